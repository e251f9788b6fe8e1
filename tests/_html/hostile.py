"""Names that try to become markup, and what a browser's parser makes of a page."""

from html.parser import HTMLParser

HOSTILE = [
    "</script><img src=x onerror=alert(1)>",
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)>",
    "<svg/onload=alert(1)>",
    "</style><script>alert(1)</script>",
    "</title><script>alert(1)</script>",
    "</table></div><h1>gone</h1>",
    "</td></tr><tr><td>",
    "</svg><iframe src=javascript:alert(1)>",
    "<iframe srcdoc='<script>alert(1)</script>'>",
    "<a href='javascript:alert(1)'>x</a>",
    "<body onload=alert(1)>",
    "<base href=//example.com>",
    "<meta http-equiv=refresh content=0>",
    "<link rel=stylesheet href=x>",
    "<object data=x>",
    "<embed src=x>",
    "<form action=x><input name=y>",
    "<details open ontoggle=alert(1)>",
    "<video><source onerror=alert(1)>",
    "<math><mtext></mtext></math>",
    "<template><b></template>",
    "<noscript><p title='</noscript><img src=x>'>",
    "<!-- <b>",
    "--><b>x</b>",
    "<![CDATA[<b>]]>",
    "<?php echo 1 ?>",
    '" onmouseover=alert(1) x="',
    "' onfocus=alert(1) autofocus='",
    'x" style="position:fixed" y="',
    "&lt;b&gt;",
    "&#60;b&#62;",
    "<b\x00>x</b>",
    "<B\n>x</B\n>",
    "{{ 7 * 7 }}",
    "{% raw %}<b>{% endraw %}",
    "\u202e<b>",
    "\uff1cb\uff1e<b>",
    "` onclick=alert(1) `",
]


class _Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        # Values may hold the name itself; tags and attribute names may not.
        self.found.append((tag, [name for name, _ in attrs]))

    def handle_endtag(self, tag):
        self.found.append(("/", tag))

    def handle_comment(self, data):
        self.found.append(("comment", data))

    def handle_decl(self, decl):
        self.found.append(("declaration", decl))

    def handle_pi(self, data):
        self.found.append(("instruction", data))


def tags_of(page):
    """Tags, attribute names and comments of a page, in order."""
    parser = _Tags()
    parser.feed(page)
    parser.close()
    return parser.found
