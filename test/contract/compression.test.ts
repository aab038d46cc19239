import { gunzipSync } from 'node:zlib'
import { beforeAll, expect, it } from 'vitest'
import {
  askBytes,
  describeContract,
  type Fields,
  newConfigMap,
  newNamespace,
} from './contract-server.ts'

/** A list's resource version may be another the next time; what is in it is not. */
const itemsOf = (body: Buffer): Fields => {
  const answer = JSON.parse(body.toString())
  return answer.items ?? answer
}

describeContract('Compression', (server) => {
  let path = ''
  beforeAll(async () => {
    const namespace = await newNamespace(server())
    path = `/api/v1/namespaces/${namespace}/configmaps`
    await newConfigMap(server(), namespace, 'big', { data: { x: 'y'.repeat(200_000) } })
    await newConfigMap(server(), namespace, 'small')
  })

  it.each(['', '/big'])('of a large answer (%s) where it is accepted', async (at) => {
    const plain = await askBytes(server(), path + at, { 'accept-encoding': 'identity' })
    expect(plain.headers['content-encoding']).toBeUndefined()
    const zipped = await askBytes(server(), path + at, { 'accept-encoding': 'br, gzip' })
    expect(zipped.headers['content-encoding']).toBe('gzip')
    expect(zipped.headers.vary).toBe('Accept-Encoding')
    expect(zipped.body.length).toBeLessThan(plain.body.length / 10)
    expect(itemsOf(gunzipSync(zipped.body))).toEqual(itemsOf(plain.body))
  })

  it.each(['gzip;q=0', 'deflate', '*'])('does not come for %s', async (encoding) => {
    const { headers } = await askBytes(server(), path, { 'accept-encoding': encoding })
    expect(headers['content-encoding']).toBeUndefined()
  })

  it('does not come for small answers, nor for watches', async () => {
    const gzip = { 'accept-encoding': 'gzip' }
    const small = await askBytes(server(), `${path}/small`, gzip)
    expect(small.headers['content-encoding']).toBeUndefined()
    const stream = await askBytes(server(), `${path}?watch=1&timeoutSeconds=3`, gzip)
    expect(stream.headers['content-encoding']).toBeUndefined()
    expect(stream.body.length).toBeGreaterThan(200_000)
  })
})
