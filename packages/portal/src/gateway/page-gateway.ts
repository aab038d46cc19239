import { credentials, credentialsRefused } from './credentials.ts'
import { Gateway } from './gateway.ts'

/** The gateway that served the page. */
export const pageGateway: Gateway = new Gateway({
  url: '/graphql',
  credentials,
  onRefused: credentialsRefused,
})
