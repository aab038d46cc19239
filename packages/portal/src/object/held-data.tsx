import { useState } from 'react'
import {
  SecretKeysDocument,
  SecretsServedDocument,
  SecretValuesDocument,
} from '../gateway/documents.ts'
import { quoted } from '../export/kubectl.ts'
import { GatewayError, useAnswer, useGateway } from '../gateway/gateway.ts'
import { CopyButton } from './copy-button.tsx'
import { membersAt, textAt } from './json.ts'
import type { SeenObject } from './live-object.ts'
import { pageWords } from './page-words.ts'
import { Section } from './section.tsx'
import styles from './summary.module.css'

/** Longer values are folded. */
const mostLines = 12
const mostCharacters = 2_000

/** What a ConfigMap holds, by key. */
export function ConfigMapData({ object: { json } }: { readonly object: SeenObject }) {
  const texts = membersAt(json, 'data')
  const binaries = membersAt(json, 'binaryData')
  const say = pageWords.data
  const count = texts.length + binaries.length
  return (
    <Section title={say.title} count={count}>
      {count === 0 ? (
        <p className={styles['dim']}>{say.none}</p>
      ) : (
        <dl className={styles['data']}>
          {texts.map(([key, value]) => (
            <TextValue key={key} name={key} value={value} />
          ))}
          {binaries.map(([key, value]) => (
            <div key={key} className={styles['datum']}>
              <dt>{key}</dt>
              <dd className={styles['dim']}>{say.binary(bytesOf(value)?.length ?? 0)}</dd>
            </div>
          ))}
        </dl>
      )}
    </Section>
  )
}

/** A value with its key. A long one is folded. */
function TextValue({ name, value }: { readonly name: string; readonly value: string }) {
  const [isWhole, setWhole] = useState(false)
  const say = pageWords.data
  const lines = value.split('\n')
  const isLong = lines.length > mostLines || value.length > mostCharacters
  const shown =
    isWhole || !isLong ? value : lines.slice(0, mostLines).join('\n').slice(0, mostCharacters)
  return (
    <div className={styles['datum']}>
      <dt>
        {name}
        <span className={styles['count']}>{say.size(value.length, lines.length)}</span>
        <CopyButton what={name} text={value} />
      </dt>
      <dd>
        {value === '' ? (
          <span className={styles['dim']}>{say.empty}</span>
        ) : (
          <pre className={styles['value']}>{shown}</pre>
        )}
        {isLong ? (
          <button type="button" className={styles['link']} onClick={() => setWhole(!isWhole)}>
            {isWhole ? say.fewer : say.all(lines.length)}
          </button>
        ) : null}
      </dd>
    </div>
  )
}

/** What a Secret holds: its type and its keys, and a value when it is asked for, where the gateway serves them. */
export function SecretData({ object }: { readonly object: SeenObject }) {
  const { id, clusterName, namespace, name, json } = object
  const isServed = useSecretsServed(clusterName)
  const { data, errors, isPending } = useAnswer(
    SecretKeysDocument,
    { id },
    { since: textAt(json, 'metadata', 'resourceVersion') },
  )
  if (isPending || isServed === undefined) return null
  const say = pageWords.secret
  const secret = data?.object
  const { keys, keyCount, type } =
    secret != null && 'keys' in secret ? secret : { keys: null, keyCount: null, type: null }
  const count = Math.max(keyCount ?? 0, keys?.length ?? 0)
  const [error] = errors
  if (keys == null) {
    return (
      <Section title={pageWords.data.title}>
        <p className={styles['dim']}>
          {error === undefined ? say.gone : say.refused(error.message)}
        </p>
      </Section>
    )
  }
  const place = `--context ${quoted(clusterName)} -n ${quoted(namespace ?? '')}`
  return (
    <Section title={pageWords.data.title} count={count}>
      <p className={styles['dim']}>
        {say.type}: {type ?? 'Opaque'}.{' '}
        {count === 0 ? say.none : isServed ? say.audited : say.withheld}
      </p>
      <dl className={styles['data']}>
        {keys.map((key) =>
          isServed ? (
            <SecretValue key={key} id={id} name={key} />
          ) : (
            <div key={key} className={styles['datum']}>
              <dt>{key}</dt>
            </div>
          ),
        )}
      </dl>
      {count > keys.length ? (
        <p className={styles['dim']}>{say.unnamed(count - keys.length)}</p>
      ) : null}
      {isServed || count === 0 ? null : (
        <OtherWay
          text={say.elsewhere}
          command={`kubectl ${place} get secret ${quoted(name)} -o yaml`}
        />
      )}
    </Section>
  )
}

/** Whether the gateway serves the values of the Secrets of a cluster. `undefined` until it has said so. */
export function useSecretsServed(cluster: string): boolean | undefined {
  const { data, isPending } = useAnswer(SecretsServedDocument, {})
  if (isPending) return undefined
  return data?.gatewayClusters?.find(({ name }) => name === cluster)?.secretData === true
}

/** The command that shows what the gateway does not. */
export function OtherWay({ text, command }: { readonly text: string; readonly command: string }) {
  return (
    <>
      <p className={styles['dim']}>
        {text} <CopyButton what={pageWords.secret.command} text={command} />
      </p>
      <pre className={styles['value']}>{command}</pre>
    </>
  )
}

/** A key of a Secret. Its value is read at each click, and forgotten when it is hidden. */
function SecretValue({ id, name }: { readonly id: string; readonly name: string }) {
  const gateway = useGateway()
  const [value, setValue] = useState<string>()
  const [why, setWhy] = useState<string>()
  const say = pageWords.secret
  const isShown = value !== undefined
  const read = async (): Promise<void> => {
    setWhy(undefined)
    try {
      const { data, errors } = await gateway.ask(SecretValuesDocument, { id })
      const { object } = data
      const held = object != null && 'data' in object ? object.data?.[name] : undefined
      if (held === undefined) setWhy(errors[0]?.message ?? say.gone)
      else setValue(held)
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error
      setWhy(error.message)
    }
  }
  const text = value === undefined ? undefined : textOf(value)
  return (
    <div className={styles['datum']}>
      <dt>
        {name}
        <button
          type="button"
          className={styles['link']}
          aria-label={isShown ? say.hide(name) : say.reveal(name)}
          onClick={() => {
            if (isShown) setValue(undefined)
            else void read()
          }}
        >
          {isShown ? say.hideShort : say.show}
        </button>
        {value === undefined ? null : <CopyButton what={name} text={text ?? value} />}
      </dt>
      <dd>
        {why !== undefined ? (
          <span className={styles['wrong']}>{say.refused(why)}</span>
        ) : value === undefined ? (
          <span aria-hidden="true" className={styles['dim']}>
            {say.hidden}
          </span>
        ) : text === undefined ? (
          <span className={styles['dim']}>
            {pageWords.data.binary(bytesOf(value)?.length ?? 0)}
          </span>
        ) : (
          <pre className={styles['value']}>{text}</pre>
        )}
      </dd>
    </div>
  )
}

function bytesOf(base64: string): Uint8Array | undefined {
  try {
    return Uint8Array.from(atob(base64), (letter) => letter.codePointAt(0) ?? 0)
  } catch {
    return undefined
  }
}

/** The text that a value in base64 stands for; `undefined` if it is none. */
function textOf(base64: string): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytesOf(base64))
  } catch {
    return undefined
  }
}
