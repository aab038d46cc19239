import { useState } from 'react'
import controls from '../look/controls.module.css'
import type { SeenObject } from '../object/live-object.ts'
import { Section } from '../object/section.tsx'
import { accessWords as said } from './access-words.ts'
import { Grants, type Subject, subjectName } from './grants.tsx'
import { VerbField } from './verb-field.tsx'
import styles from './grants.module.css'

/** Who may do something with an object, and why; in a Namespace, with anything. What a ServiceAccount may do stands first. */
export function ObjectGrants({ object }: { readonly object: SeenObject }) {
  const { kind, apiVersion, clusterName: cluster, name } = object
  const namespace = object.namespace ?? undefined
  const [subject, setSubject] = useState<Subject>()
  const [verb, setVerb] = useState('')
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
  const own = isNamespace
    ? { namespace: name }
    : { type: object.__typename, namespace: namespace ?? null, name }
  return (
    <>
      {isCore && kind === 'ServiceAccount' && namespace !== undefined ? (
        <Section title={said.ofAccount}>
          <Grants
            title={said.ofAccount}
            asked={{ cluster, subject: { kind: 'SERVICE_ACCOUNT', namespace, name } }}
          />
        </Section>
      ) : null}
      <Section title={title}>
        <p className={styles['form']}>
          <VerbField verb={verb} change={setVerb} />
        </p>
        <Grants
          title={title}
          asked={{ cluster, ...own, verb: verb === '' ? null : verb }}
          visit={setSubject}
        />
      </Section>
    </>
  )
}
