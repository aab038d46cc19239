import { type AccessQuestion, questionKey } from '../../access/access-question.ts'
import type { KindAt } from '../operation/kind-part.ts'
import type { ViewerAccess } from '../operation/viewer-access.ts'

/** Something that a viewer may do or may not, on which it depends what is written besides what may be listed. */
export type Privilege =
  /** To look at an object by its name. */
  | { readonly form: 'look'; readonly at: KindAt; readonly key: string }
  /** To do something to an object, or to all of a place. */
  | { readonly form: 'do'; readonly cluster: string; readonly question: AccessQuestion }

/** What is known of the privileges of those who share a group, by {@link privilegeKey}: of what was not asked nothing is. */
export interface Privileges {
  readonly asked: ReadonlySet<string>
  readonly allowed: ReadonlySet<string>
}

export const noPrivileges: Privileges = { asked: new Set(), allowed: new Set() }

/** One text for each, on every replica, within one cluster. */
export function privilegeKey(privilege: Privilege): string {
  return privilege.form === 'do'
    ? `do\n${questionKey(privilege.question)}`
    : `look\n${privilege.at.kind.typeName}\n${privilege.key}`
}

/** The same privilege for all objects of its place. */
export function ofPlace({ cluster, question }: Privilege & { readonly form: 'do' }): Privilege {
  return { form: 'do', cluster, question: { ...question, name: '' } }
}

/** Whether a viewer has it, as far as is known. */
export function hasPrivilege(access: ViewerAccess, privilege: Privilege): boolean | undefined {
  return privilege.form === 'do'
    ? access.known(privilege.cluster, privilege.question)
    : access.looks(privilege.at, privilege.key)
}

/** Asks those that are not known, all at once. Rejects with `ClientError`. */
export async function askPrivileges(
  access: ViewerAccess,
  privileges: readonly Privilege[],
): Promise<void> {
  await Promise.all(
    privileges.map((one) =>
      one.form === 'do' ? access.may(one.cluster, one.question) : access.mayLook(one.at, one.key),
    ),
  )
}

/** Until when it is believed that a viewer has it, where nothing is heard; as `performance.now()` tells. */
export function privilegedUntilMs(access: ViewerAccess, privilege: Privilege): number {
  return privilege.form === 'do'
    ? access.mayUntilMs(privilege.cluster, [privilege.question])
    : access.looksUntilMs(privilege.at, privilege.key)
}
