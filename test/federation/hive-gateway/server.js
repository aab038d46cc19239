// Hive Gateway as a process of its own, since it needs graphql 16: node server.js SUPERGRAPH_FILE. Prints its address.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createGatewayRuntime } from '@graphql-hive/gateway-runtime'
import { unifiedGraphHandler } from '@graphql-hive/router-runtime'
import http from '@graphql-mesh/transport-http'
import ws from '@graphql-mesh/transport-ws'
import { useServer } from 'graphql-ws/use/ws'
import { WebSocketServer } from 'ws'
import { gatewayConfig } from './gateway.config.js'

const runtime = createGatewayRuntime({
  ...gatewayConfig,
  supergraph: readFileSync(process.argv[2], 'utf8'),
  transports: { http, ws },
  unifiedGraphHandler,
  logging: 'error',
  maskedErrors: false,
})
const server = createServer(runtime)
useServer(
  {
    execute: (args) => args.rootValue.execute(args),
    subscribe: (args) => args.rootValue.subscribe(args),
    async onSubscribe(context, _id, params) {
      const { schema, execute, subscribe, contextFactory, parse, validate } = runtime.getEnveloped({
        ...context,
        req: context.extra.request,
        socket: context.extra.socket,
        params,
        // As the command of Hive Gateway does: the parameters of the connection are the headers of its operations.
        connectionParams: context.connectionParams,
        headers: { ...context.extra.request.headers, ...context.connectionParams },
      })
      const document = parse(params.query)
      const errors = validate(schema, document)
      if (errors.length > 0) return errors
      return {
        schema,
        operationName: params.operationName,
        document,
        variableValues: params.variables,
        contextValue: await contextFactory(),
        rootValue: { execute, subscribe },
      }
    },
  },
  new WebSocketServer({ server, path: '/graphql' }),
)
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${server.address().port}/graphql\n`)
})
