import type {
  GraphQLEnumType,
  GraphQLInputObjectType,
  GraphQLInterfaceType,
  GraphQLObjectType,
} from 'graphql'
import type { HasField } from '../model/schema-profile.ts'
import type { KindOf } from './object-ref.ts'
import type { Kind } from '../model/kind.ts'

/** The shared types of one schema. Each is built once; fields refer to them lazily. */
export interface SchemaTypes {
  readonly kubernetesObject: GraphQLInterfaceType
  readonly objectRef: GraphQLObjectType
  readonly gatewayCluster: GraphQLObjectType
  readonly kubernetesObjectConnection: GraphQLObjectType
  readonly health: GraphQLObjectType
  readonly usedByConnection: GraphQLObjectType
  readonly usedByWhereMany: GraphQLInputObjectType
  readonly printerColumn: GraphQLObjectType
  readonly objectMeta: GraphQLObjectType
  readonly pageInfo: GraphQLObjectType
  readonly changeType: GraphQLEnumType
  readonly removal: GraphQLEnumType
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
  connectionType(kind: Kind): GraphQLObjectType
  whereType(kind: Kind): GraphQLInputObjectType
  /** Conditions on the objects that a relation to many, or to one, leads to. */
  whereManyType(kind: Kind): GraphQLInputObjectType
  whereOneType(kind: Kind): GraphQLInputObjectType
  orderType(kind: Kind): GraphQLInputObjectType
  frameType(kind: Kind): GraphQLObjectType
  readonly pageStep: GraphQLEnumType
  livePageType(kind: Kind): GraphQLObjectType
}
