import type { Page } from './list-page.ts'
import type { ObjectText } from './represented-object.ts'
import { ChunkedWriter, type ResponseSink } from './response-sink.ts'

const comma = Buffer.from(',')

/** Streams a list, as fast as the client reads it. */
export async function sendList(page: Page, text: ObjectText, sink: ResponseSink): Promise<void> {
  const writer = new ChunkedWriter(sink)
  const { listKind: kind, apiVersion } = text
  const opening = JSON.stringify({ kind, apiVersion, metadata: page.metadata })
  writer.add(Buffer.from(`${opening.slice(0, -1)},"items":[`))
  let first = true
  for (const object of page.objects) {
    if (!first) writer.add(comma)
    first = false
    if (writer.add(...text.item(object)) && !(await writer.flush())) return
  }
  writer.add(Buffer.from(']}\n'))
  if (await writer.flush()) sink.end()
}
