import type { CapturedApi, Schema } from '../../api/captured-api.ts'
import { kindSchema, metadataSchema } from '../../api/kind-schema.ts'
import type { ServedResource } from '../../api/served-resource.ts'
import { type FieldShape, fieldShape } from './field-shape.ts'

const known = new WeakMap<Schema, FieldShape>()
const shapes = new WeakMap<ServedResource, FieldShape>()

/** The shape of the objects of a resource. */
export function kindShape(captured: CapturedApi, served: ServedResource): FieldShape {
  let shape = shapes.get(served)
  if (shape === undefined) {
    shape = served.stored.custom ? customShape(captured, served) : builtInShape(captured, served)
    shapes.set(served, shape)
  }
  return shape
}

function builtInShape(captured: CapturedApi, served: ServedResource): FieldShape {
  const { root, schemas } = kindSchema(captured, served)
  return fieldShape(root, { schemas, known })
}

/** Types and metadata are the same for every kind, whatever its schema says. */
function customShape(captured: CapturedApi, { schema }: ServedResource): FieldShape {
  const { root, schemas } = metadataSchema(captured)
  const metadata = fieldShape(root, { schemas, known })
  const own = fieldShape(schema, { schemas: {}, known })
  return {
    kind: 'map',
    member: (name) => {
      if (name === 'metadata') return metadata
      if (name === 'apiVersion' || name === 'kind') return { kind: 'atomic' }
      return own.kind === 'map' ? own.member(name) : undefined
    },
  }
}
