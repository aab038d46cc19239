import type { GraphQLInputObjectType, GraphQLInterfaceType, GraphQLObjectType } from 'graphql'
import type { HasField } from '../model/schema-profile.ts'
import type { KindOf } from './object-ref.ts'
import type { Kind } from '../model/kind.ts'
import type { OwnTypes } from './own-types.ts'

/** The shared types of one schema. Each is built once; fields refer to them lazily. */
export interface SchemaTypes {
  readonly kubernetesObject: GraphQLInterfaceType
  readonly objectMeta: GraphQLObjectType
  /** The types of the gateway itself. */
  readonly own: OwnTypes
  /** The kind of core Events; absent if the cluster serves none. */
  readonly event: Kind | undefined
  /** Whether Secrets have `data` and `type`, read from the API server. */
  readonly secretData: boolean
  readonly hasField: HasField
  /** A kind by its type name. Throws `TypeError` if the model has none. */
  kind(typeName: string): Kind
  /** A kind by API group and kind. */
  readonly kindOf: KindOf
  objectType(kind: Kind): GraphQLObjectType
  whereType(kind: Kind): GraphQLInputObjectType
  orderType(kind: Kind): GraphQLInputObjectType
}
