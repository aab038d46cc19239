import { useEffect, useState } from 'react'
import { RelatedByDocument, RelatedDocument } from '../gateway/documents.ts'
import { useAnswer } from '../gateway/gateway.ts'
import { Failure } from '../look/notice.tsx'
import { words } from '../words.ts'
import { useAround } from './around.ts'
import { CertificateParts } from './certificate-parts.tsx'
import type { SeenObject } from './live-object.ts'
import { followable, type NeighbourGroup, neighbourhoodOf, pluralOf } from './neighbours.ts'
import { ObjectLink } from './object-link.tsx'
import styles from './related.module.css'
import { Section } from './section.tsx'
import { UsedBy, useUsers } from './used-by.tsx'

/** What is around an object: who uses it, its owners, what it owns, and its relations both ways. */
export function Related({ object }: { readonly object: SeenObject }) {
  const { id, namespace } = object
  const [beside, setBeside] = useState<readonly string[]>([])
  const since = useAround([id], beside, namespace)
  const { data, errors } = useAnswer(RelatedDocument, { id }, { since })
  const { users, errors: unknownUse } = useUsers(id, since)
  const [asked, setAsked] = useState<readonly string[]>([])
  const further = useAnswer(
    RelatedByDocument,
    { id, relations: [...asked] },
    { since, enabled: asked.length > 0 },
  )
  const say = words.object.related
  const [error] = [...errors, ...further.errors]
  const found = [data?.graph, further.data?.graph].flatMap((one) => one?.nodes ?? [])
  const others = [...new Set(found.map((node) => node.id))].filter((one) => one !== id)
  useEffect(() => setBeside(others), [others.join()])
  if (data?.graph == null) {
    return errors.length === 0 ? null : (
      <div className={styles['failed']}>
        <Failure title={say.failed} errors={errors} />
      </div>
    )
  }
  const { graph } = data
  const more = further.data?.graph
  const graphs = more == null ? [graph] : [graph, more]
  const isUser = new Set(users?.nodes.map((user) => user.object.id))
  const around = neighbourhoodOf(id, { object: data.object, graphs, isUser })
  const left = followable(graph).filter((relation) => !asked.includes(relation))
  const parts = (['owners', 'owned', 'refersTo', 'referredToBy'] as const).filter(
    (part) => around[part].length > 0,
  )
  return (
    <div className={styles['related']}>
      <CertificateParts object={object} />
      <UsedBy users={users} error={unknownUse[0]} namespace={namespace} />
      {parts.map((part) => (
        <Section key={part} title={say[part]}>
          <div className={styles['groups']}>
            {around[part].map((group) => (
              <Group
                key={`${group.relation} ${group.kind}`}
                group={group}
                namespace={namespace}
                isOwn={part === 'refersTo'}
              />
            ))}
          </div>
        </Section>
      ))}
      {parts.length === 0 && users === undefined && unknownUse.length === 0 ? (
        <p className={styles['dim']}>{say.none}</p>
      ) : null}
      {graphs.some(({ truncated }) => truncated) ? (
        <p className={styles['dim']}>{say.truncated}</p>
      ) : null}
      {error === undefined ? null : <p className={styles['dim']}>{say.refused(error.message)}</p>}
      {left.length === 0 ? null : (
        <p className={styles['dim']}>
          {say.notFollowed(left.map(nameOf))}{' '}
          <button type="button" className={styles['look']} onClick={() => setAsked(left)}>
            {say.follow}
          </button>
        </p>
      )}
      <NotLookedAt types={graph.notLookedAt} />
    </div>
  )
}

/** The name of a relation without its type: `configMaps`. */
function nameOf(relation: string): string {
  return relation.slice(relation.indexOf('.') + 1)
}

function NotLookedAt({ types }: { readonly types: readonly string[] }) {
  if (types.length === 0) return null
  return (
    <details className={styles['dim']}>
      <summary>{words.object.related.notLookedAt(types.length)}</summary>
      <p className={styles['types']}>{types.join(', ')}</p>
    </details>
  )
}

/** How many of a group are shown at first. */
const most = 12

function Group({
  group: { kind, relation, objects },
  namespace,
  isOwn,
}: {
  readonly group: NeighbourGroup
  readonly namespace: string | null
  /** Whether the relation is the object's own, so that its type goes without saying. */
  readonly isOwn: boolean
}) {
  const [isOpen, setOpen] = useState(false)
  const shown = isOpen ? objects : objects.slice(0, most)
  return (
    <div className={styles['group']}>
      <h3 className={styles['groupName']}>
        {objects.length === 1 ? kind : `${objects.length} ${pluralOf(kind)}`}
        {relation === '' ? null : (
          <code className={styles['relation']} title={relation}>
            {isOwn ? nameOf(relation) : relation}
          </code>
        )}
      </h3>
      <ul>
        {shown.map((object) => (
          <li key={object.id}>
            <ObjectLink object={object} beside={namespace} />
          </li>
        ))}
      </ul>
      {objects.length > shown.length ? (
        <button type="button" className={styles['look']} onClick={() => setOpen(true)}>
          {words.object.more(objects.length - shown.length)}
        </button>
      ) : null}
    </div>
  )
}
