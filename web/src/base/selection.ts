/**
 * Remembers a selection of text in `box`. The returned function selects it again: when the text of a node changes, browsers
 * move the ends of a selection in it to its beginning.
 */
export function rememberSelection(box: Node): () => void {
  const selection = getSelection();
  if (!selection || selection.isCollapsed || !selection.containsNode(box, true)) return () => {};
  const { anchorNode: from, anchorOffset, focusNode: to, focusOffset } = selection;
  const place = (node: Node, offset: number): [Node, number] => [
    node,
    Math.min(offset, (node.nodeValue ?? node.childNodes).length),
  ];
  return () => {
    const isSame = selection.anchorNode === from && selection.anchorOffset === anchorOffset;
    if (isSame && selection.focusNode === to && selection.focusOffset === focusOffset) return;
    if (from?.isConnected && to?.isConnected)
      selection.setBaseAndExtent(...place(from, anchorOffset), ...place(to, focusOffset));
  };
}
