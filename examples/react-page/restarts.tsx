import { useLivePage } from '@informerql/client/react'
import { client } from './client.ts'

interface Pod {
  readonly id: string
  readonly metadata: { readonly namespace: string; readonly name: string }
}

const query = `subscription ($resumeFrom: String) {
  podsPage(first: 3, orderBy: [{ restarts: DESC }], resumeFrom: $resumeFrom) {
    reset synced totalCount resumeToken
    changes { step index from objectId object { id metadata { namespace name } } }
  }
}`

/** The pods that were restarted most often: the gateway keeps their order. */
export function Restarts() {
  const { rows, totalCount } = useLivePage<Pod>({ client, query })
  return (
    <section aria-label="restarts">
      <p>
        {rows.length} of {totalCount}
      </p>
      <ol>
        {rows.map(({ id, metadata }) => (
          <li key={id}>
            {metadata.namespace}/{metadata.name}
          </li>
        ))}
      </ol>
    </section>
  )
}
