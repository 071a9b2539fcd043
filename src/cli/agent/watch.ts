/** `tendril agent jobs watch`: follows a job to its end. */
import type { Host } from '../host.ts'
import { jsonLines } from '../print.ts'
import { harmless, oneLine, warnOfUnseen } from '../text.ts'
import { othersText, pendingOf } from './approvals.ts'
import { openAgent } from './context.ts'
import { exitOf } from './ending.ts'
import { follow, type JobEvent } from './follow.ts'
import { Printer } from './printer.ts'

/**
 * Returns the exit code of the job. With --json, each event is a line in the form that the server
 * stores.
 */
export const watch = async (
  id: string,
  options: Record<string, unknown>,
  host: Host,
): Promise<number> => {
  using context = await openAgent(options, host)
  const asJson = options.json === true
  const printer = new Printer(host, false)
  const json = jsonLines(host)
  let status: JobEvent['data'] = {}
  const take = (event: JobEvent): boolean => {
    if (asJson) json.add([{ ...event }])
    else printer.print(event)
    if (event.type === 'job.status') status = event.data
    return event.type !== 'job.status' || event.data.status !== 'waiting_approval' || asJson
  }
  for (let after = 0; ; ) {
    const followed = await follow(context, { id, after, take, pollOnly: asJson })
    if (followed.over) break
    after = followed.after
    for (const approval of await pendingOf(context, id)) {
      const { summary } = approval
      host.stderr.write(`${oneLine(summary)}\n${harmless(othersText(approval, false))}\n`)
      warnOfUnseen(host.stderr, summary)
    }
  }
  if (status.status === 'failed' && !asJson)
    host.stderr.write(`tendril: the job failed: ${oneLine(String(status.error))}\n`)
  return exitOf(status)
}
