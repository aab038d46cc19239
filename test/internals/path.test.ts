// Imports internals: columns of errors in paths, and objects that no server sends.
import { describe, expect, it } from 'vitest'
import { parsePath, PathError, valueAt, valuesAt } from '../../src/query/index/path.ts'

const pod = {
  metadata: { name: 'a', labels: { 'app.example/tier': 'web', 'odd"key': 'x' } },
  spec: {
    nodeName: null,
    containers: [
      { image: 'a:1', ports: [{ port: 1 }, { port: 2 }] },
      { image: 'b:1' },
      { image: null, ports: [] },
    ],
  },
  status: { capacity: { cpu: '2', memory: '1Gi' } },
}

describe('paths', () => {
  it.each([
    ['metadata.name', ['a']],
    ['metadata.labels["app.example/tier"]', ['web']],
    ['metadata.labels["odd\\"key"]', ['x']],
    ['["metadata"].name', ['a']],
    ['spec.containers[*].image', ['a:1', 'b:1']],
    ['spec.containers[*].ports[*].port', [1, 2]],
    ['status.capacity[*]', ['2', '1Gi']],
    ['spec.containers[image="b:1"].image', ['b:1']],
    ['spec.containers[image="a:1"].ports[*].port', [1, 2]],
    ['spec.containers[image="c:1"].image', []],
    ['spec.containers[constructor="x"]', []],
    ['metadata[name="a"]', []],
    ['spec.nodeName', []],
    ['spec.nothing.here', []],
    ['spec.containers.length', []],
    ['metadata.name.length', []],
    ['metadata.name[*]', []],
    ['metadata.labels.constructor', []],
    ['constructor.name', []],
    ['__proto__.toString', []],
    ['metadata.labels["__proto__"]', []],
  ])('%s', (text, expected) => {
    expect(valuesAt(parsePath(text), pod)).toEqual(expected)
    expect(valueAt(parsePath(text), pod)).toEqual(expected[0])
  })

  it('finds what an object has itself under an inherited name', () => {
    const object = JSON.parse('{"labels":{"constructor":"c","__proto__":"p"}}') as unknown
    expect(valuesAt(parsePath('labels.constructor'), object)).toEqual(['c'])
    expect(valuesAt(parsePath('labels["__proto__"]'), object)).toEqual(['p'])
  })

  it.each([
    ['', 1],
    ['.a', 1],
    ['a..b', 3],
    ['a.', 3],
    ['a[*', 2],
    ['a[0]', 2],
    ['a[*]b', 5],
    ['a["b]', 2],
    ['a["\\x"]', 3],
    ['a b', 2],
    ['a.b"', 4],
  ])('%j is refused at column %i', (text, column) => {
    const error = thrownBy(() => parsePath(text))
    expect(error).toBeInstanceOf(PathError)
    expect((error as PathError).column).toBe(column)
    expect((error as PathError).message).toContain(`column ${column}`)
  })
})

function thrownBy(run: () => unknown): unknown {
  try {
    run()
  } catch (error) {
    return error
  }
  return undefined
}
