import type { RelationDefinition } from '../../query/relation/relation-definition.ts'
import type { RelationField } from '../model/kind.ts'

const code = (texts: readonly string[]): string => texts.map((text) => `\`${text}\``).join(', ')

const by = (through: readonly string[] | undefined): string =>
  through === undefined || through.length === 0 ? '' : `, by ${through.join(', ')}`

/** What makes an object one of those that a relation leads to: `that it names at …`. */
function ruleOf(definition: RelationDefinition, many: boolean): string {
  switch (definition.form) {
    case 'reference':
    case 'numbered': {
      const paths = definition.form === 'reference' ? definition.paths : []
      const places = [...paths, ...(definition.names?.templates ?? [])]
      return places.length === 0 ? 'that it names' : `that it names: ${code(places)}`
    }
    case 'uid':
      return `that it means by UID: ${code(definition.paths)}`
    case 'reverse':
      return `whose relation \`${definition.of}\` leads here`
    case 'selects':
      return `that it selects by its labels: ${code([definition.path])}`
    case 'same':
      return `that ${many ? 'say' : 'says'} the same: ${code(definition.as)} is ${code(definition.texts)}`
    case 'owned':
      return `that it owns${by(definition.through)}`
    case 'owner':
      return `that ${many ? 'own' : 'owns'} it${by(definition.through)}`
    case 'through':
      return `behind ${definition.steps.map((step) => `\`${step}\``).join(', then ')}`
    case 'events':
      return 'that tell of it'
  }
}

/** What a relation's field says of itself: what its SDL says, or else what its declaration means. */
export function describeRelation({ definition, many, description }: RelationField): string {
  if (description !== undefined) return description
  const rule = ruleOf(definition, many)
  return many
    ? `Every ${definition.to} ${rule}.`
    : `The ${definition.to} ${rule}; null where there is none.`
}
