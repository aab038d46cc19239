import type { FieldCase, Form, Place } from './field-case.ts'
import { kindOfType } from './field-kinds.ts'
import { at, targetName, targetUid } from './form.ts'
import { link, named, settledForm } from './link.ts'

/** An owner, as an object has it in its metadata. */
export function ownerForm(type: string, members: object = {}): Form {
  const { apiVersion, kind } = kindOfType(type)
  return at('metadata.ownerReferences[*]', {
    apiVersion,
    kind,
    name: targetName,
    uid: targetUid,
    controller: true,
    ...members,
  })
}

/** Who owns an object, and what somebody owns: by UID, so that one of the same name is not meant. */
export function owner(from: string, to: string): FieldCase {
  const type = to.split('.')[0] ?? ''
  return link(from, to, {
    meant: [ownerForm(type)],
    missed: [ownerForm(type, { uid: 'a former one' })],
  })
}

/** Who owns an object through one of another kind, and the other way: `chain('Pod.deployment', 'ReplicaSet', 'Deployment.pods')`. */
export function chain(from: string, between: string, to: string): FieldCase {
  const [type = '', fields = ''] = from.split('.')
  const [above = '', back = ''] = to.split('.')
  const of = (place: Place, members: object = {}): Form => {
    const [owning = ''] = place.split(' ')
    return settledForm(ownerForm(owning, members), place)
  }
  const top: Place = `${above} ~top`
  const middle: Place = `${between} ~middle`
  const former: Place = `${between} ~former`
  return {
    objects: [
      [top],
      [`${above} ~idle`],
      [middle, of(top)],
      [former, of(top, { uid: 'a former one' })],
      [`${type} ~own`, of(middle)],
      [`${type} ~own-too`, of(middle)],
      [`${type} ~of-former`, of(former)],
      [`${type} ~without`],
    ],
    leads: {
      ...named(type, fields, { [`${type} ~own`]: [top], [`${type} ~own-too`]: [top] }),
      ...named(above, back, { [top]: [`${type} ~own`, `${type} ~own-too`] }),
    },
  }
}
