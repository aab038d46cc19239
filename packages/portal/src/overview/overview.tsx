import { ClustersDocument } from '../gateway/documents.ts'
import { useAnswer } from '../gateway/gateway.ts'

/** The clusters, and what is degraded in them. */
export function Overview() {
  const { data } = useAnswer(ClustersDocument, {}, { everyMs: 3_000 })
  return (
    <ul>
      {data?.gatewayClusters?.map(({ name, state, version }) => (
        <li key={name}>
          {name} {state} {version}
        </li>
      ))}
    </ul>
  )
}
