import { credentials } from './credentials.ts'
import { Gateway } from './gateway.ts'
import { sessionRefused } from './session.ts'

/** The gateway that served the page. */
export const pageGateway: Gateway = new Gateway({
  url: '/graphql',
  credentials,
  onRefused: sessionRefused,
})
