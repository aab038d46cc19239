import { useEffect, useState } from 'react'
import { SecretUsersDocument } from '../gateway/documents.ts'
import { useAnswer } from '../gateway/gateway.ts'
import { words } from '../words.ts'
import { useAround } from './around.ts'
import { groupOf, textAt } from './json.ts'
import type { SeenObject } from './live-object.ts'
import styles from './related.module.css'
import { Section } from './section.tsx'
import { UsedBy } from './used-by.tsx'

/** What uses the Secret of a Certificate of cert-manager: what the Certificate is for. Nothing for other objects. */
export function CertificateParts({ object }: { readonly object: SeenObject }) {
  const secret = textAt(object.json, 'spec', 'secretName')
  const isCertificate =
    object.kind === 'Certificate' && groupOf(object.apiVersion) === 'cert-manager.io'
  return isCertificate && secret !== undefined ? (
    <SecretUsers certificate={object} name={secret} />
  ) : null
}

function SecretUsers({
  certificate: { id, clusterName: cluster, namespace },
  name,
}: {
  readonly certificate: SeenObject
  readonly name: string
}) {
  const [secrets, setSecrets] = useState<readonly string[]>([])
  const { data, errors, isPending } = useAnswer(
    SecretUsersDocument,
    { cluster, namespace, name },
    { since: useAround(secrets, [], namespace) },
  )
  const secret = data?.objectByRef?.id
  useEffect(() => setSecrets(secret === undefined ? [] : [secret]), [secret])
  if (isPending) return null
  const say = words.object.related
  const [error] = errors
  const users = data?.objectByRef?.usedBy
  if (users == null && error === undefined) {
    return (
      <Section title={say.secretUsedBy}>
        <p className={styles['dim']}>{say.noSecret}</p>
      </Section>
    )
  }
  const others = users?.nodes.filter((user) => user.object.id !== id) ?? []
  return (
    <UsedBy
      title={say.secretUsedBy}
      users={
        users == null
          ? undefined
          : {
              ...users,
              nodes: others,
              totalCount: users.totalCount - (users.nodes.length - others.length),
            }
      }
      error={error}
      namespace={namespace}
    />
  )
}
