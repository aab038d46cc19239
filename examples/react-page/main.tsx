/**
 * A page that follows pods, live: `useLiveCollection` and `useLivePage`; and Deployments with buttons that `can` enables.
 * Beside a running gateway (`npm start`):
 *
 *     npx vite examples/react-page
 */
import { useLiveCollection } from '@informerql/client/react'
import { StrictMode, useState } from 'react'
import { createRoot } from 'react-dom/client'
import { client } from './client.ts'
import { Restarts } from './restarts.tsx'
import { Workloads } from './workloads.tsx'

interface Pod {
  readonly id: string
  readonly metadata: { readonly namespace: string; readonly name: string }
  readonly status: { readonly phase: string | null } | null
}

const query = `subscription ($where: PodWhere, $resumeFrom: String) {
  pods(where: $where, resumeFrom: $resumeFrom) {
    reset synced resumeToken
    changes {
      type removal objectId
      object { id metadata { namespace name } status { phase } }
    }
  }
}`

const byName = (a: Pod, b: Pod): number =>
  a.metadata.namespace.localeCompare(b.metadata.namespace) ||
  a.metadata.name.localeCompare(b.metadata.name)

function Pods({ phase }: { readonly phase: string }) {
  const { rows, status, error } = useLiveCollection<Pod>({
    client,
    query,
    variables: { where: phase === '' ? {} : { phase: { eq: phase } } },
    compare: byName,
  })
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
      <Workloads />
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
