import { type AccessQuestion, questionKey } from '../../access/access-question.ts'
import type { ClusterKind } from '../prepare/kind-view.ts'
import type { ViewerAccess } from '../prepare/viewer-access.ts'

/** Something that a viewer may do or may not, on which it depends what is written besides what may be listed. */
export type PermissionCheck =
  /** To look at an object by its name. */
  | { readonly form: 'look'; readonly at: ClusterKind; readonly key: string }
  /** To do something to an object, or to all of a place. */
  | { readonly form: 'do'; readonly cluster: string; readonly question: AccessQuestion }

/** What is known of the privileges of those who share a group, by {@link permissionKey}: of what was not asked nothing is. */
export interface KnownPermissions {
  readonly asked: ReadonlySet<string>
  readonly allowed: ReadonlySet<string>
}

export const noPermissions: KnownPermissions = { asked: new Set(), allowed: new Set() }

/** One text for each, on every replica, within one cluster. */
export function permissionKey(privilege: PermissionCheck): string {
  return privilege.form === 'do'
    ? `do\n${questionKey(privilege.question)}`
    : `look\n${privilege.at.kind.typeName}\n${privilege.key}`
}

/** The same privilege for all objects of its place. */
export function ofPlace({
  cluster,
  question,
}: PermissionCheck & { readonly form: 'do' }): PermissionCheck {
  return { form: 'do', cluster, question: { ...question, name: '' } }
}

/** Whether a viewer has it, as far as is known. */
export function isPermitted(access: ViewerAccess, privilege: PermissionCheck): boolean | undefined {
  return privilege.form === 'do'
    ? access.known(privilege.cluster, privilege.question)
    : access.looks(privilege.at, privilege.key)
}

/** Asks those that are not known, all at once. Rejects with `ClientError`. */
export async function askPermissions(
  access: ViewerAccess,
  privileges: readonly PermissionCheck[],
): Promise<void> {
  await Promise.all(
    privileges.map((one) =>
      one.form === 'do' ? access.may(one.cluster, one.question) : access.mayLook(one.at, one.key),
    ),
  )
}

/** Until when it is believed that a viewer has it, where nothing is heard; as `performance.now()` tells. */
export function permittedUntilMs(access: ViewerAccess, privilege: PermissionCheck): number {
  return privilege.form === 'do'
    ? access.mayUntilMs(privilege.cluster, [privilege.question])
    : access.looksUntilMs(privilege.at, privilege.key)
}
