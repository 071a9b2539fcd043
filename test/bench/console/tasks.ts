/**
 * The tasks of a page's main thread, as Chromium traces them: by the clock, which is what somebody
 * feels, and in processor time, which is what the page itself takes. On a loaded machine a task
 * waits for a processor, so that the two differ.
 */
import type { CDPSession } from 'playwright-core'

/** In milliseconds. */
export interface Task {
  clock: number
  processor: number
}

interface TraceEvent {
  name: string
  pid: number
  tid: number
  /** Microseconds by the clock, and of the thread. */
  dur?: number
  tdur?: number
  args: { name?: string; data?: { frames?: { processId?: number }[] } }
}

const TASKS = 'disabled-by-default-devtools.timeline'
const KEPT = ['RunTask', 'thread_name', 'TracingStartedInBrowser']

const tasksIn = (events: readonly TraceEvent[]): Task[] => {
  const begun = events.find(({ name }) => name === 'TracingStartedInBrowser')
  const pid = begun?.args.data?.frames?.[0]?.processId
  const main = events.find((one) => one.pid === pid && one.args.name === 'CrRendererMain')
  if (!main) throw new Error('the trace does not name the thread of the page')
  return events
    .filter(({ name, ...one }) => name === 'RunTask' && one.pid === pid && one.tid === main.tid)
    .map(({ dur = 0, tdur = 0 }) => ({ clock: dur / 1_000, processor: tdur / 1_000 }))
}

/** All tasks of the page while `act` runs. */
export const tasksDuring = async (
  session: CDPSession,
  act: () => Promise<void>,
): Promise<Task[]> => {
  const events: TraceEvent[] = []
  const collect = ({ value }: { value: unknown[] }): void => {
    for (const event of value as TraceEvent[]) if (KEPT.includes(event.name)) events.push(event)
  }
  session.on('Tracing.dataCollected', collect as never)
  await session.send('Tracing.start', {
    traceConfig: { includedCategories: [TASKS], excludedCategories: ['*'] },
    transferMode: 'ReportEvents',
  })
  await act()
  const complete = new Promise<{ dataLossOccurred: boolean }>((resolve) =>
    session.once('Tracing.tracingComplete', resolve),
  )
  await session.send('Tracing.end')
  const { dataLossOccurred: isPartial } = await complete
  session.off('Tracing.dataCollected', collect as never)
  if (isPartial) throw new Error('the trace lost events')
  return tasksIn(events)
}
