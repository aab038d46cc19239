/** Built in its own commit. */
export function ObjectPage() {
  return <p>ObjectPage</p>
}
