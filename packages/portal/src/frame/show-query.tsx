import { useGateway } from '../gateway/gateway.ts'
import { words } from '../words.ts'

/** Opens the operation of a view in GraphiQL, with its variables. */
export function ShowQuery({
  document,
  variables,
  className,
}: {
  readonly document: { toString(): string }
  readonly variables: Readonly<Record<string, unknown>>
  readonly className?: string | undefined
}) {
  const { url } = useGateway()
  const search = new URLSearchParams({
    query: document.toString().trim(),
    variables: JSON.stringify(variables, undefined, 2),
  })
  return (
    <a className={className} href={`${url}?${search.toString()}`} target="_blank" rel="noreferrer">
      {words.showQuery}
    </a>
  )
}
