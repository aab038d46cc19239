import type { RelationDefinition } from '../../query/relation/relation-definition.ts'
import type { RelationField } from '../model/kind.ts'

const code = (texts: readonly string[]): string => texts.map((text) => `\`${text}\``).join(', ')

const by = (through: readonly string[] | undefined): string =>
  through === undefined || through.length === 0 ? '' : `, by ${through.join(', ')}`

/** The rule of a relation, as a clause: `that it names: …`. */
function ruleOf(definition: RelationDefinition, many: boolean): string {
  switch (definition.form) {
    case 'reference':
    case 'numbered': {
      const paths = definition.form === 'reference' ? definition.paths : []
      const places = [...paths, ...(definition.names?.templates ?? [])]
      return places.length === 0 ? 'that it names' : `that it names: ${code(places)}`
    }
    case 'uid':
      return `that it refers to by UID: ${code(definition.paths)}`
    case 'reverse':
      return `whose relation \`${definition.of}\` leads here`
    case 'selects':
      return `that it selects by its labels: ${code([definition.path])}`
    case 'same':
      return `with a common text: its ${code(definition.as)} is ${code(definition.texts)} of this object`
    case 'owned':
      return `that it owns${by(definition.through)}`
    case 'owner':
      return `that ${many ? 'own' : 'owns'} it${by(definition.through)}`
    case 'through':
      return `behind ${definition.steps.map((step) => `\`${step}\``).join(', then ')}`
    case 'events':
      return 'about it'
  }
}

/** The description of a relation's field: the one in its SDL, or else one made from its declaration. */
export function describeRelation({ definition, many, description }: RelationField): string {
  if (description !== undefined) return description
  const rule = ruleOf(definition, many)
  return many
    ? `Every ${definition.to} ${rule}.`
    : `The ${definition.to} ${rule}; null if there is none.`
}
