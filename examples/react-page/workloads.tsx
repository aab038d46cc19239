import { useLiveCollection } from '@informerql/client/react'
import { useState } from 'react'
import { client, send } from './client.ts'

interface Workload {
  readonly id: string
  readonly metadata: { readonly namespace: string; readonly name: string }
  readonly spec: { readonly replicas: number }
  /** `null`: known only when it is tried, as where callers have no names. */
  readonly mayRestart: boolean | null
  readonly mayScale: boolean | null
}

const query = `subscription ($resumeFrom: String) {
  deployments(resumeFrom: $resumeFrom) {
    reset synced resumeToken
    changes {
      type removal objectId
      object {
        id metadata { namespace name } spec { replicas }
        mayRestart: can(verb: "patch")
        mayScale: can(verb: "patch", subresource: "scale")
      }
    }
  }
}`

const restart = `mutation ($id: ID!) {
  written: restart(id: $id) { changes { path } }
}`

const scale = `mutation ($id: ID!, $replicas: Int!) {
  written: scale(id: $id, replicas: $replicas) { changes { path } }
}`

interface Written {
  readonly written: { readonly changes: readonly { readonly path: string }[] }
}

/**
 * Deployments with buttons. `can` says which of them are of use; the API server decides when they are pressed. The row
 * itself changes by the subscription: a mutation is answered when the gateway's cache has it.
 */
export function Workloads() {
  const { rows } = useLiveCollection<Workload>({ client, query })
  const [outcome, setOutcome] = useState('')
  const write = (mutation: string, variables: Readonly<Record<string, unknown>>): void => {
    setOutcome('…')
    send<Written>(mutation, variables).then(
      ({ written }) => setOutcome(`changed ${written.changes.map(({ path }) => path).join(', ')}`),
      (error: unknown) => setOutcome(String(error)),
    )
  }
  return (
    <section aria-label="workloads">
      <ul>
        {rows.map(({ id, metadata, spec: { replicas }, mayRestart, mayScale }) => (
          <li key={id}>
            {metadata.namespace}/{metadata.name}: {replicas}{' '}
            <button
              type="button"
              disabled={mayScale === false}
              onClick={() => write(scale, { id, replicas: replicas + 1 })}
            >
              Scale up
            </button>
            <button
              type="button"
              disabled={mayRestart === false}
              onClick={() => write(restart, { id })}
            >
              Restart
            </button>
          </li>
        ))}
      </ul>
      <p role="log">{outcome}</p>
    </section>
  )
}
