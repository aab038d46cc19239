import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import type { GraphQLServer } from 'informerql'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { rawRequest } from './raw-request.ts'
import { post, serve, smallApi } from './small-api.ts'

const script = 'document.body.textContent = "hello"\n'.repeat(100)
const pages: string[] = []

/** A folder as the build of the portal leaves it. */
function builtPage(): string {
  const folder = mkdtempSync(join(tmpdir(), 'informerql-page-'))
  pages.push(folder)
  mkdirSync(join(folder, 'assets', 'deep'), { recursive: true })
  const files = {
    'index.html': '<!doctype html><script nonce="{{nonce}}"></script><link nonce="{{nonce}}">',
    'documents.json': JSON.stringify({ known: '{ hello }' }),
    'assets/main-a1.js': script,
    'assets/main-a1.js.br': brotliCompressSync(script),
    'assets/look-b2.css': 'body { margin: 0 }',
    'assets/icon-c3.svg': '<svg/>',
    'assets/deep/secret.js': 'no',
    'outside.js': 'no',
  }
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content)
  return folder
}

let server: GraphQLServer
beforeAll(async () => {
  server = await serve(smallApi(), {}, { portalFolder: builtPage() })
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  for (const folder of pages) rmSync(folder, { recursive: true })
})

const html = { accept: 'text/html,application/xhtml+xml' }
const get = (path: string, init: RequestInit = {}): Promise<Response> =>
  fetch(new URL(path, server.url), init)
/** A request as it is: `fetch` would add what browsers send, and normalise the path. */
const ask = async (
  line: string,
  headers: readonly string[] = [],
): Promise<{ status: number; head: string; body: string }> => {
  const host = `host: 127.0.0.1:${server.port}`
  const answer = await rawRequest(server.port, [`${line} HTTP/1.1`, host, ...headers])
  answer.socket.destroy()
  return answer
}

describe('The page of the portal', () => {
  it('is at /, and at every address of its views', async () => {
    expect(server.portalUrl).toBe(new URL('/', server.url).href)
    for (const path of ['/', '/?ns=shop', '/kinds/pods', '/objects/abc?tab=yaml']) {
      const response = await get(path, { headers: html })
      expect(response.status, path).toBe(200)
      expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
      expect(await response.text()).toContain('<!doctype html>')
    }
    // A program that knows only the port.
    expect((await get('/')).status).toBe(200)
  })

  it('has a policy that names its own nonce, and allows nothing inline and no other origin', async () => {
    const response = await get('/', { headers: html })
    const policy = response.headers.get('content-security-policy') ?? ''
    const [, nonce = ''] = /style-src 'self' 'nonce-([^']+)'/.exec(policy) ?? []
    expect(nonce.length).toBeGreaterThanOrEqual(22)
    expect(await response.text()).toBe(
      `<!doctype html><script nonce="${nonce}"></script><link nonce="${nonce}">`,
    )
    expect(policy).not.toMatch(/unsafe|\*|https?:|ws/)
    for (const part of [
      "default-src 'none'",
      "script-src 'self'",
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ]) {
      expect(policy.split('; ')).toContain(part)
    }
  })

  it('is made anew for each answer, and never kept: a kept page would have an old nonce', async () => {
    const [one, two] = await Promise.all([get('/'), get('/')])
    expect(await one.text()).not.toBe(await two.text())
    expect(one.headers.get('cache-control')).toBe('no-store')
    expect(one.headers.get('etag')).toBeNull()
  })

  it('leaves the other paths of the server alone', async () => {
    const answer = await post(server.url, { query: '{ hello }' })
    expect(await answer.json()).toEqual({ data: { hello: 'hello you' } })
    expect(await (await get('/livez', { headers: html })).text()).toBe('ok\n')
    expect(await (await get('/graphql', { headers: html })).text()).toContain('YogaGraphiQL')
  })

  it('has its icon where browsers look for that of what is no page', async () => {
    const icon = await get('/favicon.ico')
    expect(icon.status).toBe(200)
    expect(icon.headers.get('content-type')).toMatch(/^image\/svg\+xml/)
    expect(icon.headers.get('cache-control')).not.toContain('immutable')
    expect(await icon.text()).toBe('<svg/>')
  })

  it('is for browsers: a program that asks for an unknown path gets an error', async () => {
    const response = await get('/kinds/pods', { headers: { accept: 'application/json' } })
    expect(response.status).toBe(404)
    expect(await response.json()).toMatchObject({ errors: [{ extensions: { code: 'NOT_FOUND' } }] })
  })

  it('is refused under a foreign name, as everything is', async () => {
    const answer = await rawRequest(server.port, ['GET / HTTP/1.1', 'host: evil.example'])
    answer.socket.destroy()
    expect(answer.status).toBe(403)
  })

  it('is there without credentials where callers are asked for them', async () => {
    const rest = { portalFolder: builtPage(), requireViewer: true }
    await using closed = await serve(smallApi(), {}, rest)
    expect((await fetch(closed.portalUrl ?? '', { headers: html })).status).toBe(200)
    expect((await post(closed.url, { query: '{ hello }' })).status).toBe(401)
  })
})

describe('Its assets', () => {
  it.each([
    ['/assets/main-a1.js', 'text/javascript; charset=utf-8', script],
    ['/assets/look-b2.css', 'text/css; charset=utf-8', 'body { margin: 0 }'],
    ['/assets/icon-c3.svg', 'image/svg+xml', '<svg/>'],
  ])('%s has its type, and is kept for good', async (path, type, content) => {
    const response = await get(path)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe(type)
    expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    expect(await response.text()).toBe(content)
  })

  it.each([
    ['br, gzip', 'br'],
    ['gzip', 'gzip'],
    ['br;q=0, gzip', 'gzip'],
    ['identity', null],
  ])('are sent to a browser that accepts %s as it likes them', async (accepted, encoding) => {
    const response = await get('/assets/main-a1.js', { headers: { 'accept-encoding': accepted } })
    expect(response.headers.get('content-encoding')).toBe(encoding)
    expect(response.headers.get('vary')).toContain('accept-encoding')
    expect(await response.text()).toBe(script)
    const again = await get('/assets/main-a1.js', {
      headers: {
        'accept-encoding': accepted,
        'if-none-match': response.headers.get('etag') ?? '',
      },
    })
    expect(again.status).toBe(304)
  })

  it('are those of the build, and nothing else of the machine', async () => {
    for (const path of [
      '/assets/',
      '/assets',
      '/assets/main-a1.js.br',
      '/assets/deep/secret.js',
      '/assets/../outside.js',
      '/assets/%2e%2e/outside.js',
      '/assets/..%2foutside.js',
      '/assets//etc/passwd',
      '/assets/missing.js',
      '/../outside.js',
      '/outside.js',
      '/documents.json',
      '/index.html',
      '/constructor',
    ]) {
      expect((await ask(`GET ${path}`)).status, path).toBe(404)
    }
    // A missing asset is never the page: a browser would take it for a script.
    expect((await ask('GET /assets/missing.js', ['accept: text/html'])).status).toBe(404)
  })
})

describe('Further views', () => {
  const viewOf = (name: string, files: Readonly<Record<string, string>>): string => {
    const folder = join(mkdtempSync(join(tmpdir(), 'informerql-view-')), name)
    pages.push(folder)
    mkdirSync(join(folder, 'assets'), { recursive: true })
    for (const [file, content] of Object.entries(files)) writeFileSync(join(folder, file), content)
    return folder
  }

  it('are named in the page, and served with what they need, and nothing else', async () => {
    const portalFolder = builtPage()
    writeFileSync(join(portalFolder, 'index.html'), '<meta content="{{views}}">')
    const portalViews = [
      viewOf('on-call', { 'index.js': 'one', 'assets/part.css': 'two', '.env': 'no', key: 'no' }),
      viewOf('costs', { 'index.js': 'three' }),
    ]
    await using two = await serve(smallApi(), { portalViews }, { portalFolder })
    const read = (path: string) => fetch(new URL(path, two.url))
    expect(await (await read('/')).text()).toBe('<meta content="on-call costs">')
    const view = await read('/views/on-call/index.js')
    expect(await view.text()).toBe('one')
    expect(view.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
    // Its name stays the same when it changes.
    expect(view.headers.get('cache-control')).toBe('no-cache')
    expect(await (await read('/views/on-call/assets/part.css')).text()).toBe('two')
    expect(await (await read('/views/costs/index.js')).text()).toBe('three')
    for (const path of ['/views/on-call/.env', '/views/on-call/key', '/views/costs/part.css']) {
      expect((await read(path)).status, path).toBe(404)
    }
  })

  it('without a module are refused at the start, with their folder and the way out', async () => {
    const folder = viewOf('on-call', { 'main.js': '' })
    const options = { portalViews: [folder] }
    const started = serve(smallApi(), options, { portalFolder: builtPage() })
    await expect(started).rejects.toMatchObject({
      code: 'BAD_PORTAL_VIEW',
      value: folder,
      hint: expect.stringContaining('index.js'),
    })
  })
})

describe('Methods', () => {
  it.each(['/', '/kinds/pods', '/assets/main-a1.js'])('HEAD of %s has no body', async (path) => {
    const { status, head, body } = await ask(`HEAD ${path}`, [
      'accept: text/html',
      'connection: close',
    ])
    expect(status).toBe(200)
    expect(Number(/content-length: (\d+)/.exec(head)?.[1])).toBeGreaterThan(0)
    expect(body).toBe('')
  })

  it.each(['POST /', 'PUT /assets/main-a1.js', 'DELETE /', 'OPTIONS /'])(
    '%s is refused',
    async (line) => {
      const { status, head } = await ask(line, ['content-length: 0'])
      expect(status).toBe(405)
      expect(head).toContain('allow: get, head')
    },
  )
})

describe('Without the portal', () => {
  it('/ leads to GraphiQL, or to nothing', async () => {
    const rest = { portalFolder: builtPage() }
    await using off = await serve(smallApi(), { portal: false }, rest)
    expect(off.portalUrl).toBeUndefined()
    const answer = await fetch(new URL('/', off.url), { headers: html, redirect: 'manual' })
    expect(answer.headers.get('location')).toBe('/graphql')
    expect((await fetch(new URL('/assets/main-a1.js', off.url))).status).toBe(404)
    await using neither = await serve(smallApi(), { portal: false, graphiql: false }, rest)
    expect((await fetch(new URL('/', neither.url), { headers: html })).status).toBe(404)
  })

  it('a page that is not built says how to build it, and the log says so', async () => {
    const warnings: string[] = []
    const log = { warn: (message: string) => void warnings.push(message), error: () => {} }
    await using bare = await serve(smallApi(), {}, { portalFolder: '/nowhere/portal', log })
    expect(warnings).toEqual(['the portal is not built'])
    const answer = await fetch(bare.portalUrl ?? '', { headers: html })
    expect(answer.status).toBe(503)
    expect(await answer.text()).toContain('npm run build --workspace @informerql/portal')
    expect((await post(bare.url, { query: '{ hello }' })).status).toBe(200)
  })
})

describe('With trusted documents', () => {
  const trusting = (portal: boolean): Promise<GraphQLServer> => {
    const folder = builtPage()
    const file = join(folder, 'trusted.json')
    writeFileSync(file, JSON.stringify({ own: '{ square(of: 3) }' }))
    const rest = { portalFolder: folder }
    return serve(smallApi(), { trustedDocuments: file, portal }, rest)
  }
  const answered = { data: { hello: 'hello you' } }
  const refused = { errors: [{ extensions: { code: 'UNTRUSTED_DOCUMENT' } }] }

  it('the operations of the page run, too', async () => {
    await using trusted = await trusting(true)
    const operate = async (body: object): Promise<unknown> => (await post(trusted.url, body)).json()
    expect(await operate({ query: '{ hello }' })).toEqual(answered)
    expect(await operate({ documentId: 'known' })).toEqual(answered)
    expect(await operate({ query: '{ square(of: 3) }' })).toEqual({ data: { square: 9 } })
    expect(await operate({ query: '{ square(of: 4) }' })).toMatchObject(refused)
  })

  it('they do not run without the portal', async () => {
    await using trusted = await trusting(false)
    expect(await (await post(trusted.url, { query: '{ hello }' })).json()).toMatchObject(refused)
  })
})
