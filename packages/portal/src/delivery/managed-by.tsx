import type { ManagerPartsFragment } from '../gateway/documents.ts'
import { PlaceLink } from '../look/place-link.tsx'
import { words } from '../words.ts'
import styles from './delivery.module.css'
import type { Effect } from './delivery-words.ts'

const say = words.delivery

export type Manager = ManagerPartsFragment

/**
 * What manages an object, the way to it, and what it does about changes by others; nothing for an object that says none. What
 * is named and not seen may not be there: of it only the object's word is told.
 */
export function ManagedBy({
  managers,
  effect = 'sets',
}: {
  readonly managers: readonly Manager[] | null
  readonly effect?: Effect
}) {
  return managers?.map(({ tool, kind, namespace, name, reversal, object }) => {
    const text = namespace === null ? name : `${namespace}/${name}`
    return (
      <p key={`${tool} ${kind}`} className={styles['managed']}>
        {reversal === null ? say.saidToBeOf : say.managedBy} {say.tools[tool]} {kind ?? say.release}{' '}
        {object === null ? (
          <strong>{text}</strong>
        ) : (
          <PlaceLink to={{ object: object.nameId }}>{text}</PlaceLink>
        )}
        . {reversal === null && `${say.unseen} `}
        {say.effect(effect, reversal)}
      </p>
    )
  })
}
