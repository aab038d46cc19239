import { useState } from 'react'
import controls from '../look/controls.module.css'
import type { SeenObject } from '../object/live-object.ts'
import { Section } from '../object/section.tsx'
import { accessWords as said } from './access-words.ts'
import { Grants, type Subject, subjectName } from './grants.tsx'
import { parts, partWords } from './part-words.ts'
import { VerbField } from './verb-field.tsx'
import styles from './grants.module.css'

/** Who may do something with an object, and why; in a Namespace, with anything. What a ServiceAccount may do stands first. */
export function ObjectGrants({ object }: { readonly object: SeenObject }) {
  const { kind, apiVersion, clusterName: cluster, name } = object
  const namespace = object.namespace ?? undefined
  const [subject, setSubject] = useState<Subject>()
  const [verb, setVerb] = useState('')
  const [subresource, setSubresource] = useState('')
  const isCore = apiVersion === 'v1'
  const isNamespace = isCore && kind === 'Namespace'
  if (subject !== undefined) {
    const title = said.ofSubject(subjectName(subject))
    return (
      <Section title={title}>
        <p>
          <button
            type="button"
            className={controls['button']}
            onClick={() => {
              setSubject(undefined)
            }}
          >
            {said.back}
          </button>
        </p>
        <Grants
          title={title}
          asked={{ cluster, namespace: isNamespace ? name : (namespace ?? null), subject }}
        />
      </Section>
    )
  }
  const title = isNamespace ? said.inNamespace(name) : said.whoMayDo(kind)
  const of = isNamespace
    ? { namespace: name }
    : {
        type: object.__typename,
        ...(subresource !== '' && { subresource }),
        namespace: namespace ?? null,
        name,
      }
  const own = parts.filter(({ type }) => type === object.__typename)
  return (
    <>
      {isCore && kind === 'ServiceAccount' && namespace !== undefined ? (
        <Section title={said.ofAccount}>
          <Grants
            title={said.ofAccount}
            hasNotes={false}
            asked={{ cluster, subject: { kind: 'SERVICE_ACCOUNT', namespace, name } }}
          />
        </Section>
      ) : null}
      <Section title={title}>
        <p className={styles['form']}>
          <VerbField verb={verb} change={setVerb} />
          {own.length === 0 ? null : (
            <label>
              {partWords.part}
              <select
                className={controls['field']}
                value={subresource}
                onChange={({ target }) => {
                  setSubresource(target.value)
                }}
              >
                <option value="">{partWords.whole}</option>
                {own.map(({ typed, subresource: one, does }) => (
                  <option key={typed} value={one}>
                    {typed}: {does}
                  </option>
                ))}
              </select>
            </label>
          )}
        </p>
        <Grants
          title={title}
          asked={{ cluster, ...of, verb: verb === '' ? null : verb }}
          visit={setSubject}
        />
      </Section>
    </>
  )
}
