/** Traces, where the configuration says where they go. Without one, nothing of them is loaded. */
import type { TraceSettings } from '#config/traces'
import { systemClock } from '#kernel/clock'
import { newId } from '#kernel/ids'
import type { Tracer } from '#kernel/trace'
import type { SenderDeps } from './sender.ts'

type Parts = Pick<SenderDeps, 'log' | 'counted' | 'limits'>

export const openTraces = async (
  { url, headers, service }: TraceSettings,
  { commit, ...parts }: Parts & { commit?: string | null },
): Promise<{ tracer: Tracer } & AsyncDisposable> => {
  const [{ SpanSender }, { createTracer }] = await Promise.all([
    import('./sender.ts'),
    import('./tracer.ts'),
  ])
  const resource = { service, version: commit ?? undefined, instance: newId() }
  const sender = new SpanSender({ clock: systemClock, ...parts, url, headers, resource })
  return {
    tracer: createTracer((span) => sender.add(span)),
    [Symbol.asyncDispose]: () => sender[Symbol.asyncDispose](),
  }
}
