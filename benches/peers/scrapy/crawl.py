"""Crawls the hosts in a file with Scrapy at full speed, and keeps nothing: `crawl.py SEEDS AT-A-TIME`."""

import sys
from urllib.parse import urlsplit

from scrapy import Spider
from scrapy.crawler import CrawlerProcess
from scrapy.linkextractors import LinkExtractor

SEEDS = [line.strip() for line in open(sys.argv[1])]
HOSTS = {urlsplit(seed).netloc for seed in SEEDS}


class Bench(Spider):
    name = "bench"
    start_urls = SEEDS
    links = LinkExtractor(allow_domains=HOSTS)

    def parse(self, response):
        for link in self.links.extract_links(response):
            yield response.follow(link, self.parse)


settings = {
    "CONCURRENT_REQUESTS": int(sys.argv[2]),
    "ROBOTSTXT_OBEY": True,
    "DOWNLOAD_DELAY": 0,
    "LOG_LEVEL": "ERROR",
    "TELNETCONSOLE_ENABLED": False,
}
process = CrawlerProcess(settings)
process.crawl(Bench)
process.start()
