"""Links to chats in a cluster. See docs/contract/shared-links.md."""

from checks import accepted, ids, refused


def test_each_node_reads_lists_and_takes_back_the_links_of_the_others(nodes):
    one, other = nodes
    thread = accepted(one.http.post("/threads", json={}), 201)["id"]
    content = bytes(range(256))
    made = accepted(one.http.post(f"/threads/{thread}/links", content=content), 201)
    found = other.anonymous.get(f"/ui/shared/{made['id']}")
    assert found.status_code == 200 and found.content == content
    assert ids(accepted(other.http.get("/links"))) == [made["id"]]
    assert other.http.delete(f"/links/{made['id']}").status_code == 204
    refused(one.anonymous.get(f"/ui/shared/{made['id']}"), 404, "link not found")

    made = accepted(other.http.post(f"/threads/{thread}/links", content=content), 201)
    assert one.http.delete(f"/threads/{thread}").status_code == 204
    refused(other.anonymous.get(f"/ui/shared/{made['id']}"), 404, "link not found")
