/**
 * A page that follows pods, live: React's own `useSyncExternalStore` over a `liveCollection`. Beside a running gateway (`npm start`):
 *
 *     npx vite examples/react-page
 */
import { liveCollection } from 'informerql/client'
import { StrictMode, useMemo, useState, useSyncExternalStore } from 'react'
import { createRoot } from 'react-dom/client'
import { client } from './client.ts'
import { Restarts } from './restarts.tsx'

interface Pod {
  readonly id: string
  readonly metadata: { readonly namespace: string; readonly name: string }
  readonly status: { readonly phase: string | null } | null
}

const pods = liveCollection<unknown, object, Pod>({
  client,
  query: `subscription ($resumeFrom: String) {
    pods(resumeFrom: $resumeFrom) {
      reset synced resumeToken
      changes {
        type removal objectId
        object { id metadata { namespace name } status { phase } }
      }
    }
  }`,
  compare: (a, b) =>
    a.metadata.namespace.localeCompare(b.metadata.namespace) ||
    a.metadata.name.localeCompare(b.metadata.name),
})

function Pods({ phase }: { readonly phase: string }) {
  const view = useMemo(
    () => (phase === '' ? pods : pods.view({ filter: ({ status }) => status?.phase === phase })),
    [phase],
  )
  const { rows, status, error } = useSyncExternalStore(view.subscribe, view.getSnapshot)
  return (
    <>
      <p>
        <output>{status}</output>: {rows.length} pods {error?.message}
      </p>
      <table>
        <tbody>
          {rows.map(({ id, metadata, status: podStatus }) => (
            <tr key={id}>
              <td>{metadata.namespace}</td>
              <td>{metadata.name}</td>
              <td>{podStatus?.phase}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  )
}

function Page() {
  const [phase, setPhase] = useState('')
  return (
    <>
      <select value={phase} onChange={({ target }) => setPhase(target.value)}>
        <option value="">all</option>
        <option>Pending</option>
        <option>Running</option>
        <option>Failed</option>
      </select>
      <Pods phase={phase} />
      <Restarts />
    </>
  )
}

const root = document.querySelector('#root')
if (root === null) throw new Error('the page has no #root')
createRoot(root).render(
  <StrictMode>
    <Page />
  </StrictMode>,
)
