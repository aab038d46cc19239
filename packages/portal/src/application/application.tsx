/** Built in its own commit. */
export function Application() {
  return <p>Application</p>
}
