/** Built in its own commit. */
export function KindPage() {
  return <p>KindPage</p>
}
