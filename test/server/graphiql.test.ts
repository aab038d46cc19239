import type { Page } from 'playwright-core'
import type { GraphQLServer } from 'informerql'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { describeInBrowser } from '../support/browser.ts'
import { serve, smallApi } from './small-api.ts'

let server: GraphQLServer
beforeAll(async () => {
  const exampleOperations = [
    '# first light\nquery First { hello }\n',
    'query Further { square(of: 3) } # </script>\n',
  ]
  server = await serve(smallApi(), {}, { exampleOperations })
})
afterAll(() => server[Symbol.asyncDispose]())

const html = { accept: 'text/html,application/xhtml+xml' }

describe('GraphiQL', () => {
  it('comes from this server alone: no tag of the page leads elsewhere', async () => {
    const response = await fetch(server.url, { headers: html })
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toContain('text/html')
    const policy = response.headers.get('content-security-policy')
    expect(policy).toContain("default-src 'none'")
    expect(policy).not.toMatch(/https?:|\*/)
    const page = await response.text()
    expect(page).toContain('# first light')
    const outside = page.replaceAll(/<(script|style)>[\s\S]*?<\/\1>/g, '')
    expect(outside.length).toBeLessThan(page.length / 10)
    expect(outside).not.toMatch(/(?:src|href)=["']?(?:https?:)?\/\//i)
    expect(page).not.toMatch(/<(?:script|link|img|iframe)[^>]+(?:unpkg|jsdelivr|cdn|https?:\/\/)/i)
  })

  it('is sent compressed, and once', async () => {
    const first = await fetch(server.url, { headers: { ...html, 'accept-encoding': 'gzip' } })
    expect(first.headers.get('content-encoding')).toBe('gzip')
    await first.arrayBuffer()
    const etag = first.headers.get('etag') ?? ''
    const second = await fetch(server.url, { headers: { ...html, 'if-none-match': etag } })
    expect(second.status).toBe(304)
    const plain = await fetch(server.url, { headers: { ...html, 'accept-encoding': 'identity' } })
    expect(plain.headers.get('content-encoding')).toBeNull()
    expect(await plain.text()).toContain('</html>')
  })

  it('is where a browser that knows only the port ends up', async () => {
    const response = await fetch(new URL('/', server.url), { headers: html })
    expect(response.url).toBe(server.url)
    expect(await response.text()).toContain('</html>')
  })

  it('is not served where that is configured', async () => {
    await using without = await serve(smallApi(), { graphiql: false })
    expect((await fetch(without.url, { headers: html })).status).toBe(403)
    expect((await fetch(new URL('/', without.url))).status).toBe(404)
  })
})

describeInBrowser('A GET without further headers', (browser) => {
  const ask = async (from: string): Promise<unknown> => {
    const page = await browser().newPage()
    await page.goto(from)
    const answer = await page.evaluate(
      async (url) => await (await fetch(url)).json().catch(String),
      `${server.url}?query={hello}`,
    )
    await page.close()
    return answer
  }

  it('is answered for a page of the same origin, and for no other', async () => {
    const own = server.url.replace('/graphql', '/livez')
    expect(await ask(own)).toEqual({ data: { hello: 'hello you' } })
    await expect(ask(own.replace('127.0.0.1', 'localhost'))).rejects.toThrow('Failed to fetch')
  })
})

/** Presses the button, and reads what the page shows. GraphiQL misses a press while its tabs change: then it is pressed again. */
async function run(page: Page): Promise<string> {
  const result = page
    .getByRole('region', { name: /operation result/i })
    .or(page.locator('.result-window'))
  const answered = async (): Promise<void> => {
    await page.getByRole('button', { name: /execute query/i }).click()
    await result.getByText('data').first().waitFor({ timeout: 4_000 })
  }
  await answered().catch(answered).catch(answered)
  return (await result.first().innerText()).replaceAll(/\s+/g, ' ')
}

describeInBrowser('GraphiQL', (browser) => {
  /** Opens GraphiQL; everything that the page asks of another host, or is not allowed to do, goes into `problems`. */
  async function open(
    query?: string,
    variables?: object,
  ): Promise<{ page: Page; problems: string[] }> {
    const problems: string[] = []
    const page = await browser().newPage()
    const foreign = (url: string): boolean =>
      /^(https?|wss?):/.test(url) && new URL(url).host !== `127.0.0.1:${server.port}`
    page.on('request', (request) => {
      if (foreign(request.url())) problems.push(`request to ${request.url()}`)
    })
    page.on('websocket', (socket) => {
      if (foreign(socket.url())) problems.push(`WebSocket to ${socket.url()}`)
    })
    page.on('pageerror', (error) => problems.push(`error: ${error.message}`))
    page.on('console', (message) => {
      if (/content security policy/i.test(message.text())) problems.push(message.text())
    })
    const url = new URL(server.url)
    if (query !== undefined) url.searchParams.set('query', query)
    if (variables !== undefined) url.searchParams.set('variables', JSON.stringify(variables))
    await page.goto(url.href)
    return { page, problems }
  }

  it('loads and answers its first query without asking any other host', async () => {
    const { page, problems } = await open()
    expect(await run(page)).toContain('hello you')
    expect(problems).toEqual([])
    await page.close()
  })

  it('offers the examples in tabs', async () => {
    const { page, problems } = await open()
    await page.getByRole('button', { name: 'Further', exact: true }).click()
    expect(await run(page)).toContain('9')
    expect(await page.getByRole('tab').allInnerTexts()).toEqual(['First', 'Further'])
    expect(problems).toEqual([])
    await page.close()
  })

  it('opens an operation with its variables by its address, at the first visit and later', async () => {
    const query = 'query Asked($of: Int!) { square(of: $of) }'
    const { page, problems } = await open(query, { of: 5 })
    expect(await run(page)).toContain('25')
    expect(await page.getByRole('tab').allInnerTexts()).toEqual(['First', 'Further', 'Asked'])
    const address = new URL(server.url)
    address.searchParams.set('query', query)
    address.searchParams.set('variables', '{"of":6}')
    await page.goto(address.href)
    expect(await run(page)).toContain('36')
    expect(problems).toEqual([])
    await page.close()
  })

  it('runs a subscription over WebSocket', async () => {
    const { page, problems } = await open('subscription { count(to: 3) }')
    const opened = page.waitForEvent('websocket')
    const answer = run(page)
    expect((await opened).url()).toBe(server.url.replace('http', 'ws'))
    expect(await answer).toContain('count')
    expect(problems).toEqual([])
    await page.close()
  })
})
