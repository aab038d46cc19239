import { UsersOfDocument, type UsersOfQuery } from '../gateway/documents.ts'
import { type AnswerError, useAnswer } from '../gateway/gateway.ts'
import { words } from '../words.ts'
import { ObjectLink } from './object-link.tsx'
import styles from './related.module.css'
import { Section } from './section.tsx'

/** The users of an object. */
export type Users = NonNullable<NonNullable<UsersOfQuery['object']>['usedBy']>

/**
 * Who uses an object: `undefined` until it is known, and if it cannot be. Where the user may not see all kinds of users, they
 * are those of the other kinds. `since`: the version of what is around it.
 */
export function useUsers(
  id: string,
  since: unknown,
): {
  readonly users: Users | undefined
  readonly errors: readonly AnswerError[]
} {
  const all = useAnswer(UsersOfDocument, { id }, { since })
  const { visibleTypes, hiddenTypes } = all.errors[0]?.extensions ?? {}
  const types = Array.isArray(visibleTypes) ? (visibleTypes as string[]) : []
  const isPart = types.length > 0
  const some = useAnswer(UsersOfDocument, { id, types }, { since, enabled: isPart })
  const { data, errors } = isPart ? some : all
  const users = data?.object?.usedBy ?? undefined
  if (!isPart || users === undefined) return { users, errors }
  return { users: { ...users, notLookedAt: hiddenTypes as string[] }, errors }
}

/** Who uses an object, and at which places; and what is not known of that. */
export function UsedBy({
  title = words.object.related.usedBy,
  users,
  error,
  namespace,
}: {
  readonly title?: string
  /** `undefined`: they are not known, because of `error`. */
  readonly users: Users | undefined
  readonly error: AnswerError | undefined
  /** The namespace of the used object. */
  readonly namespace: string | null
}) {
  const say = words.object.related
  if (users === undefined) {
    return error === undefined ? null : (
      <Section title={title}>
        <p className={styles['dim']}>{say.unknownUse(error.message)}</p>
      </Section>
    )
  }
  const { totalCount, nodes, types, notLookedAt } = users
  return (
    <Section title={title} count={totalCount}>
      {notLookedAt.length > 0 ? (
        <p className={styles['dim']}>{say.unknownUsers(notLookedAt)}</p>
      ) : totalCount === 0 ? (
        <p className={styles['dim']}>{say.unused(types.length)}</p>
      ) : null}
      {totalCount === 0 ? null : (
        <ul className={styles['users']}>
          {nodes.map(({ object: user, paths }) => (
            <li key={user.id}>
              <span className={styles['userKind']}>{user.kind}</span>
              {user.object === null ? (
                <span>{user.name}</span>
              ) : (
                <ObjectLink object={user.object} beside={namespace} />
              )}
              <code className={styles['places']} title={paths.join('\n')}>
                {paths.map(placeOf).join(', ')}
              </code>
            </li>
          ))}
        </ul>
      )}
    </Section>
  )
}

/** The item of a list that a path leads into, without the way there: `containers[0].env[2]`. */
function placeOf(path: string): string {
  const within = path.replace(/^(?:.*\.)?spec\./, '')
  const item = within.lastIndexOf(']')
  return item < 0 ? within : within.slice(0, item + 1)
}
