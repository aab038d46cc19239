import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Visitor } from '../access/visitor.ts'
import { describeInBrowser } from '../support/browser.ts'
import { type ExampleProcess, startProgram } from '../support/example-process.ts'

const args = [
  'src/main.ts',
  'demo',
  '--port',
  '0',
  '--pods',
  '120',
  '--rate',
  '0',
  '--log-level',
  'warn',
]
const namespaces =
  '{ pods(cluster: "prod-eu") { totalCount facets(by: ["namespace"]) { values { value } } } }'
const sre = /Sara/
const developer = /Deniz/
const support = /Vera/

describe('the people of informerql demo', () => {
  let demo: ExampleProcess
  let origin: string

  beforeAll(async () => {
    demo = startProgram(process.execPath, args, { timeout: 120_000 })
    await demo.printed('Ctrl-C')
    const login = /http:\S+\/auth\/login/.exec(demo.lines.join('\n'))?.[0] ?? ''
    ;({ origin } = new URL(login))
  }, 120_000)
  afterAll(async () => demo[Symbol.asyncDispose]())

  const signedIn = async (person: RegExp): Promise<Visitor> => {
    const visitor = new Visitor(origin)
    const chooser = await visitor.go(`${origin}/auth/login?return=/graphql/schema`)
    const links = chooser.text.matchAll(/<a href="([^"]+)">(.*)<\/a>/g)
    const [, link = ''] = [...links].find(([, , text = '']) => person.test(text)) ?? []
    const address = new URL(link.replaceAll('&amp;', '&'), chooser.url).href
    await visitor.go(address, (next) => next.endsWith('/graphql/schema'))
    return visitor
  }
  const seenBy = async (visitor: Visitor): Promise<{ count: number; in: readonly string[] }> => {
    const { data } = await visitor.query(namespaces)
    const { totalCount, facets } = data.pods as Seen
    return { count: totalCount, in: namesIn(facets) }
  }

  it('are to be had under the names of this machine alone, not under one that a page has let resolve to it', async () => {
    const { headers } = await new Visitor(origin).send(`${origin}/auth/login`)
    const { origin: provider } = new URL(headers.location ?? '')
    const path = `${provider}/.well-known/openid-configuration`
    expect((await new Visitor(origin).send(path)).status).toBe(200)
    expect((await new Visitor(origin).send(path, { host: 'evil.example' })).status).toBe(403)
  })

  it('see what is theirs: everything, all but Secrets, or the namespaces of a team', async () => {
    const nobody = new Visitor(origin)
    expect(await nobody.me()).toMatchObject({ signedIn: false, required: false })
    const all = await seenBy(nobody)
    const [sara, deniz, vera] = await Promise.all([sre, developer, support].map(signedIn))
    if (sara === undefined || deniz === undefined || vera === undefined) throw new Error('missing')
    expect(await sara.me()).toMatchObject({ user: { username: 'sara@fjordholt.example' } })
    expect(await seenBy(sara)).toEqual(all)
    expect(await seenBy(vera)).toEqual(all)
    const theirs = await seenBy(deniz)
    expect(theirs.count).toBeGreaterThan(0)
    expect(theirs.count).toBeLessThan(all.count)
    expect(theirs.in.every((name) => name.startsWith('payments'))).toBe(true)
    const secrets = '{ secrets(cluster: "prod-eu") { totalCount } }'
    expect(await sara.query(secrets)).not.toHaveProperty('errors')
    expect(await vera.query(secrets)).toMatchObject({
      errors: [{ extensions: { code: 'FORBIDDEN' } }],
    })
  })

  it('may do what is theirs', async () => {
    const asked = '{ can(verb: "delete", type: "Pod", namespace: "payments") }'
    const [sara, deniz, vera] = await Promise.all([sre, developer, support].map(signedIn))
    const answers = [sara, deniz, vera].map(async (one) => (await one?.query(asked))?.data?.can)
    expect(await Promise.all(answers)).toEqual([true, true, false])
  })
})

interface Seen {
  readonly totalCount: number
  readonly facets: readonly { readonly values: readonly { readonly value: string }[] }[]
}

function namesIn(facets: Seen['facets']): readonly string[] {
  return facets.flatMap(({ values }) => values.map(({ value }) => value))
}

describeInBrowser('signing in', (browser) => {
  it('as two people shows each what is theirs, and signing out ends it', async () => {
    await using demo = startProgram(process.execPath, args, { timeout: 120_000 })
    await demo.printed('Ctrl-C')
    const login = /http:\S+\/auth\/login/.exec(demo.lines.join('\n'))?.[0] ?? ''
    const { origin } = new URL(login)
    const seenAs = async (
      person: RegExp,
    ): Promise<{ seen: Seen; user: string; after: boolean }> => {
      const context = await browser().newContext()
      const page = await context.newPage()
      await page.goto(`${origin}/auth/login?return=/livez`)
      await page.getByRole('link', { name: person }).click()
      await page.waitForURL(`${origin}/livez`)
      const result = await page.evaluate(async (query) => {
        const headers = { 'content-type': 'application/json' }
        const body = JSON.stringify({ query })
        const answer = await fetch('/graphql', { method: 'POST', headers, body })
        const { data } = (await answer.json()) as { data: { pods: Seen } }
        const me = (await (await fetch('/auth/me')).json()) as { user: { username: string } }
        const cookies = document.cookie
        const signedOut = await fetch('/auth/logout', { method: 'POST' })
        const { location } = (await signedOut.json()) as { location: string }
        const after = (await (await fetch('/auth/me')).json()) as { signedIn: boolean }
        return { seen: data.pods, user: me.user.username, cookies, location, after: after.signedIn }
      }, namespaces)
      expect(result.cookies).toBe('')
      await page.goto(result.location)
      expect(new URL(page.url()).origin).toBe(origin)
      await context.close()
      return result
    }
    const sara = await seenAs(sre)
    const deniz = await seenAs(developer)
    expect([sara.user, deniz.user]).toEqual(['sara@fjordholt.example', 'deniz@fjordholt.example'])
    expect(deniz.seen.totalCount).toBeLessThan(sara.seen.totalCount)
    expect(namesIn(deniz.seen.facets).every((name) => name.startsWith('payments'))).toBe(true)
    expect([sara.after, deniz.after]).toEqual([false, false])
  })
})
