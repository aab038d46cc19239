import { GraphQLObjectType } from 'graphql'
import { type FieldConfigs, fromSource } from './field-source.ts'
import type { Kind } from '../model/kind.ts'
import type { SchemaTypes } from './own-types.ts'

/** Fields of `Query` besides those of the kinds and of the gateway. */
interface FurtherFields {
  readonly further?: () => FieldConfigs
  /** Fields that a protocol demands, so that no profile leaves them out. */
  readonly protocol?: () => FieldConfigs
}

/** `Query`: lists and look-ups of every kind, the gateway's own fields, and further ones. */
export function buildQueryType(
  kinds: readonly Kind[],
  types: SchemaTypes,
  { further, protocol }: FurtherFields = {},
): GraphQLObjectType {
  return new GraphQLObjectType({
    name: 'Query',
    description:
      'Lists and look-ups of every kind. A field whose kind or cluster cannot be read is null and has an error; the other fields have their values.',
    fields(): FieldConfigs {
      const fields = types.own.rootFields('Query')
      for (const kind of kinds) Object.assign(fields, queryFields(kind, types))
      const pods = kinds.find(isPods)
      if (pods !== undefined) {
        fields['podLogs'] = {
          ...types.own.kindField('logs', pods),
          ...fromSource({ form: 'value' }),
        }
      }
      Object.assign(fields, further?.())
      return { ...rootFieldsOf('Query', fields, types), ...protocol?.() }
    },
  })
}

function rootFieldsOf(
  typeName: string,
  fields: FieldConfigs,
  { hasField }: SchemaTypes,
): FieldConfigs {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => hasField(typeName, name)))
}

function queryFields(kind: Kind, { own }: SchemaTypes): FieldConfigs {
  return {
    [kind.listField]: {
      ...own.kindField('list', kind),
      deprecationReason: kind.deprecation,
      ...fromSource({ form: 'list', kind }),
    },
    [kind.lookupField]: {
      ...own.kindField('lookup', kind),
      deprecationReason: kind.deprecation,
      ...fromSource({ form: 'lookup', kind }),
    },
  }
}

/** `Mutation`: writes to API servers with the credentials of the caller. */
export function buildMutationType(types: SchemaTypes): GraphQLObjectType {
  return new GraphQLObjectType({
    name: 'Mutation',
    description:
      'Writes, each with the credentials of the caller. They are made one after the other, in the order of the document; a write that fails is null and has an error, and those after it are made all the same.',
    fields: () => rootFieldsOf('Mutation', types.own.rootFields('Mutation'), types),
  })
}

function isPods({ resource }: Kind): boolean {
  return resource.group === '' && resource.resource === 'pods'
}

/**
 * `Subscription`: every list and look-up, live pages and counts, and the same for any kind.
 */
export function buildSubscriptionType(
  kinds: readonly Kind[],
  types: SchemaTypes,
  { writes }: { readonly writes: boolean },
): GraphQLObjectType {
  return new GraphQLObjectType({
    name: 'Subscription',
    description:
      'The matching objects, then their changes. The snapshot comes in frames: the first one resets, the last one is synced.',
    fields(): FieldConfigs {
      const fields = types.own.rootFields('Subscription')
      if (writes) Object.assign(fields, types.own.rootFields('WriteSubscription'))
      const add = (name: string, form: SubscriptionForm, kind: Kind): void => {
        fields[name] ??= {
          ...types.own.kindField(form, kind),
          deprecationReason: kind.deprecation,
          ...fromSource({ form, kind }),
        }
      }
      for (const kind of kinds) {
        add(kind.listField, 'listFrames', kind)
        add(kind.lookupField, 'lookupFrames', kind)
      }
      for (const kind of kinds) add(`${kind.listField}Page`, 'livePages', kind)
      for (const kind of kinds) add(`${kind.lookupField}Facets`, 'facetFrames', kind)
      const pods = kinds.find(isPods)
      if (pods !== undefined) {
        fields['podLogs'] = {
          ...types.own.kindField('logs', pods),
          ...fromSource({ form: 'logFrames' }),
        }
      }
      return rootFieldsOf('Subscription', fields, types)
    },
  })
}

type SubscriptionForm = 'listFrames' | 'lookupFrames' | 'livePages' | 'facetFrames'
