# Replays a crawl directory with pywb, from the index in cdx/ and the archives in warc/, and compares
# every answer with questions.json. Prints how many were replayed; exits with 1 at the first difference.

import json
import os
import sys

from gevent.monkey import patch_all

patch_all()

from pywb.apps.frontendapp import FrontEndApp  # noqa: E402
from werkzeug.test import Client  # noqa: E402
from werkzeug.wrappers import Response  # noqa: E402

crawl = sys.argv[1]
os.chdir(crawl)
config = {
    "collections": {
        "crawl": {
            "index_paths": os.path.join(crawl, "cdx") + "/",
            "archive_paths": os.path.join(crawl, "warc") + "/",
        }
    }
}
client = Client(FrontEndApp(custom_config=config), Response)
replayed = 0
for question in json.load(open("questions.json")):
    # id_ asks for the page as it was, without rewriting.
    answer = client.get("/crawl/{time}id_/{url}".format(**question))
    name = question["url"]
    if answer.status_code != question["status"]:
        sys.exit("%s: status %s: %r" % (name, answer.status, answer.get_data()[:300]))
    if question["body"] is not None and answer.get_data() != question["body"].encode():
        sys.exit("%s: body %r" % (name, answer.get_data()))
    replayed += 1
print("replayed", replayed)
