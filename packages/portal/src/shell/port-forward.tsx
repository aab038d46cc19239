import { useState } from 'react'
import { quoted } from '../export/kubectl.ts'
import { listAt, numberAt } from '../object/json.ts'
import type { SeenObject } from '../object/live-object.ts'
import { Section } from '../object/section.tsx'
import styles from './port-forward.module.css'
import { shellWords } from './shell-words.ts'

const say = shellWords.forward

/** The command that forwards the ports of a pod or Service to the user's machine, to copy. */
export function PortForward({ object }: { readonly object: SeenObject }) {
  const [copied, setCopied] = useState<string>()
  const command = forwardCommand(object)
  if (command === undefined) return null
  return (
    <Section title={say.title}>
      <p className={styles['command']}>
        <code>{command}</code>
        <button
          type="button"
          onClick={() => void navigator.clipboard.writeText(command).then(() => setCopied(command))}
        >
          {copied === command ? say.copied : say.copy}
        </button>
      </p>
      <p className={styles['note']}>{say.note}</p>
    </Section>
  )
}

/** `undefined`: it has no ports to forward. */
function forwardCommand(object: SeenObject): string | undefined {
  const { kind, apiVersion, clusterName, namespace, name, json } = object
  if (apiVersion !== 'v1') return undefined
  const ports = kind === 'Pod' ? podPorts(json) : kind === 'Service' ? servicePorts(json) : []
  if (ports.length === 0) return undefined
  const pairs = [...new Set(ports)].map((port) => `${localPort(port)}:${port}`)
  const what = `${kind.toLowerCase()}/${name}`
  const place = `--context ${quoted(clusterName)} -n ${quoted(namespace ?? '')}`
  return `kubectl ${place} port-forward ${quoted(what)} ${pairs.join(' ')}`
}

/** Ports below 1024 are not for every user of a machine. */
function localPort(port: number): number {
  return port < 1024 ? port + 8_000 : port
}

function podPorts(json: unknown): readonly number[] {
  return listAt(json, 'spec', 'containers').flatMap((container) =>
    tcpPorts(container, 'containerPort'),
  )
}

function servicePorts(json: unknown): readonly number[] {
  // Without a selector there is no pod to forward to.
  const spec = (json as { readonly spec?: { readonly selector?: object } } | null)?.spec
  return spec?.selector === undefined ? [] : tcpPorts(spec, 'port')
}

function tcpPorts(of: unknown, member: string): readonly number[] {
  return listAt(of, 'ports').flatMap((port) => {
    const { protocol = 'TCP' } = port as { readonly protocol?: string }
    return protocol === 'TCP' ? (numberAt(port, member) ?? []) : []
  })
}
