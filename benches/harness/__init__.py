"""What `benches/run` is made of. The standard library of Python 3.9 is all it needs.

main      the command: which parts, in which order
tools     finding and building what is run
process   a process and what it cost; the synthetic web as one of them
crawl     one crawl by larm or by the floor
report    rows, bars, table
parts/    one file per part
"""
