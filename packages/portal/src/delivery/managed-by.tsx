import { FindManagerDocument } from '../gateway/documents.ts'
import { useAnswer } from '../gateway/gateway.ts'
import { PlaceLink } from '../look/place-link.tsx'
import { valueAt } from '../object/json.ts'
import type { SeenObject } from '../object/live-object.ts'
import { type Manager, managersOf } from '../object/managed-by.ts'
import { words } from '../words.ts'
import styles from './delivery.module.css'

const say = words.delivery

/** What manages an object, with the way to it; nothing for an object that says none. */
export function ManagedBy({ object }: { readonly object: SeenObject }) {
  return managersOf(object, valueAt(object.json, 'metadata')).map((manager) => (
    <p key={`${manager.tool} ${manager.name}`} className={styles['managed']}>
      {say.managedBy}{' '}
      {manager.owner === undefined ? say.release : `${manager.tool} ${manager.owner.kind}`}{' '}
      <ManagerLink manager={manager} object={object} />.{' '}
      {manager.tool === 'Helm' ? null : say.reverts}
    </p>
  ))
}

function ManagerLink({
  manager: { owner, namespace, name },
  object: { clusterName: cluster, namespace: ownNamespace },
}: {
  readonly manager: Manager
  readonly object: SeenObject
}) {
  // Helm keeps a release in Secrets, of which the newest tells most.
  const { group, kind } = owner ?? { group: '', kind: 'Secret' }
  const where =
    owner === undefined
      ? {
          labels: [
            { key: 'owner', eq: 'helm' },
            { key: 'name', eq: name },
            { key: 'status', eq: 'deployed' },
          ],
        }
      : { name: { eq: name } }
  const place = namespace ?? (owner === undefined ? ownNamespace : null)
  const namespaces = place === null ? null : [place]
  const { data } = useAnswer(FindManagerDocument, { group, kind, cluster, namespaces, where })
  const [found, other] = data?.objectList?.nodes ?? []
  const text = namespace === undefined ? name : `${namespace}/${name}`
  // Of several with the name, none is known to be it.
  if (found === undefined || other !== undefined) return <strong>{text}</strong>
  return <PlaceLink to={{ object: found.id }}>{text}</PlaceLink>
}
