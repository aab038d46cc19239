/*
 * The spans of an operation. `begin` opens the span of the whole operation, `within` the spans of its parts. The observer
 * of each connection adds a span for each request to an API server, and sends the trace along.
 */

import {
  type Attributes,
  context,
  propagation,
  ProxyTracerProvider,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from '@opentelemetry/api'
import type {
  ApiServerObserver,
  RequestFollower,
  SentRequest,
} from '../api-server/transport/transport.ts'
import type { OperationFollower } from '../graphql/prepare/operation-trace.ts'
import type {
  FollowedRequest,
  OperationTracer,
  TracedOperation,
} from '../server/operation-options.ts'
import { packageVersion } from './package-version.ts'

/**
 * Records spans of OpenTelemetry, by the SDK that the program registers: for each operation, its parts, and its requests
 * to API servers (docs/observability.md). Without an SDK it records nothing. Give the same instance to the gateway and its
 * server.
 */
export class GatewayTraces implements OperationTracer {
  readonly #tracer: Tracer = trace.getTracer('informerql', packageVersion())
  #hasSdk = false

  /** Begins the span of an operation. Returns `undefined` without an SDK. */
  begin(request: FollowedRequest): TracedOperation | undefined {
    if (!this.#isOn()) return undefined
    const active = context.active()
    // An instrumentation of node:http may have begun a span of the request.
    const parent =
      trace.getSpan(active) === undefined ? propagation.extract(active, request.carrier()) : active
    const { method, path } = request
    const attributes = { 'http.request.method': method, 'url.path': path }
    const span = this.#tracer.startSpan(
      `${method} ${path}`,
      { kind: SpanKind.SERVER, attributes },
      parent,
    )
    span.setAttribute('informerql.request_id', request.requestId)
    const within = trace.setSpan(parent, span)
    let isOver = false
    return {
      follower: this.#follower(span),
      run: (work) => context.with(within, work),
      end: (httpStatus) => {
        if (isOver) return
        isOver = true
        if (httpStatus !== undefined) {
          span.setAttribute('http.response.status_code', httpStatus)
          if (httpStatus >= 500) span.setStatus({ code: SpanStatusCode.ERROR })
        }
        span.end()
      },
    }
  }

  /** The observer of the connection to a cluster. It makes a span for each request, and passes the trace on. */
  readonly observer = (cluster: string): Pick<ApiServerObserver, 'sending'> => ({
    sending: (request) => this.#request(cluster, request),
  })

  /** Whether an SDK is registered. Without one, no spans are made. */
  #isOn(): boolean {
    if (this.#hasSdk) return true
    const provider = trace.getTracerProvider()
    const isProxy = provider instanceof ProxyTracerProvider
    this.#hasSdk = !isProxy || provider.getDelegateTracer('informerql') !== undefined
    return this.#hasSdk
  }

  #follower(span: Span): OperationFollower {
    return {
      within: (part, { cluster, type, mutation }, work) =>
        this.#within(
          part,
          {
            ...(cluster === undefined ? {} : { 'k8s.cluster.name': cluster }),
            ...(type === undefined ? {} : { 'informerql.type': type }),
            ...(mutation === undefined ? {} : { 'informerql.mutation': mutation }),
          },
          work,
        ),
      answered: ({ operation, operationName, by, rows, codes }) => {
        const name = operationName === undefined ? operation : `${operation} ${operationName}`
        span.updateName(name)
        span.setAttributes({
          'graphql.operation.type': operation,
          ...(operationName === undefined ? {} : { 'graphql.operation.name': operationName }),
          'informerql.by': by,
          'informerql.rows': rows,
        })
        const [code] = codes
        if (code === undefined) return
        span.setAttribute('error.type', code)
        if (code === 'INTERNAL') span.setStatus({ code: SpanStatusCode.ERROR })
      },
    }
  }

  /** Runs work in the context of a new span, which ends when the work returns or its promise settles. */
  #within<T>(name: string, attributes: Attributes, work: () => T): T {
    const span = this.#tracer.startSpan(name, { attributes })
    let isWaiting = false
    try {
      const result = context.with(trace.setSpan(context.active(), span), work)
      if (!(result instanceof Promise)) return result
      isWaiting = true
      return result.finally(() => span.end()) as T
    } catch (error) {
      failed(span, error)
      throw error
    } finally {
      if (!isWaiting) span.end()
    }
  }

  #request(cluster: string, request: SentRequest): RequestFollower | undefined {
    if (!this.#isOn()) return undefined
    const { method, path, isWatch, host } = request
    const active = context.active()
    const { hostname, port } = new URL(`http://${host}`)
    const span = this.#tracer.startSpan(
      isWatch ? `${method} ${path} (watch)` : `${method} ${path}`,
      {
        kind: SpanKind.CLIENT,
        attributes: {
          'http.request.method': method,
          'url.path': path,
          'server.address': hostname,
          ...(port === '' ? {} : { 'server.port': Number(port) }),
          'k8s.cluster.name': cluster,
        },
      },
      active,
    )
    const headers: Record<string, string> = {}
    propagation.inject(trace.setSpan(active, span), headers)
    return {
      headers,
      answered(httpStatus) {
        span.setAttribute('http.response.status_code', httpStatus)
        if (httpStatus >= 400) span.setStatus({ code: SpanStatusCode.ERROR })
      },
      ended(error) {
        if (error !== undefined) failed(span, error)
        span.end()
      },
    }
  }
}

/** Records only the kind of an error: its message may contain data that must not be in a trace. */
function failed(span: Span, error: unknown): void {
  const { code, name } = error as { readonly code?: unknown; readonly name?: unknown }
  span.setAttribute('error.type', String(code ?? name))
  span.setStatus({ code: SpanStatusCode.ERROR })
}
