/*
 * A separate program for the HEALTHCHECK of an image: exits with 0 if the gateway on this machine is alive. It does not
 * know the gateway's flags: it tries without TLS, then with TLS, at the port in `INFORMERQL_SERVER_PORT`, or 4000. It
 * imports little, since it starts every few seconds.
 */

import { get, type RequestOptions } from 'node:http'
import { get as getByTls } from 'node:https'

const port = Number(process.env['INFORMERQL_SERVER_PORT'] ?? 4000)
const deadlineMs = 1_000

/** The certificate has other names than loopback's, so it is not verified: the program sends no secrets. */
const options = { host: '127.0.0.1', port, path: '/livez', rejectUnauthorized: false }

const lives = async (ask: typeof get | typeof getByTls): Promise<boolean> =>
  new Promise((resolve) => {
    const asked: RequestOptions = { ...options, signal: AbortSignal.timeout(deadlineMs) }
    ask(asked, (response) => {
      response.resume()
      resolve(response.statusCode === 200)
    }).on('error', () => resolve(false))
  })

const isAlive = (await lives(get)) || (await lives(getByTls))
// Exits even with open sockets.
process.exit(isAlive ? 0 : 1)
