/** Built in its own commit. */
export function Applications() {
  return <p>Applications</p>
}
