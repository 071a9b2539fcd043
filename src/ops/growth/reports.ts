import type { reports } from '#contract/growth/reports'
import { reportRecord } from '#contract/records/growth/report'
import { viewOf } from '#contract/records/view'
import { admitReport } from '#decisions/growth/admission'
import { generationStores } from '#decisions/growth/generations'
import { weekAt } from '#domain/growth/learning/report'
import { isDay, mondayOf } from '#kernel/calendar'
import { fail, found } from '#kernel/errors'
import { profilePart } from '#store/growth/profiles'
import { listReports, reportById } from '#store/growth/reports'
import type { Handlers } from '../engine/call.ts'
import { loading } from '../engine/loading.ts'
import { pageOf, pageResult } from '../engine/paging.ts'
import { periodOf } from '../engine/time-input.ts'
import { cancelling } from './shared/cancelling.ts'

const reportView = viewOf(reportRecord)

const invalid = (message: string): never =>
  fail('invalid_input', `week ${message}`, { details: [{ path: 'week', message }] })

/** Earlier than any post of this product. */
const EARLIEST = '2020-01-01'

const weekOf = (day: string | undefined, now: { at: Date; timeZone: string }): string => {
  const current = weekAt(now.at, now.timeZone)
  if (day === undefined) return current
  if (!isDay(day)) invalid('is not a calendar date')
  if (day < EARLIEST) invalid(`is before ${EARLIEST}`)
  return mondayOf(day) > current ? invalid('has not begun') : mondayOf(day)
}

export const reportHandlers: Handlers<typeof reports> = {
  async list(input, { read }) {
    const page = pageOf(input)
    const { rows, next_cursor } = pageResult(
      await read(listReports({ ...page, ...periodOf(input), status: input.status })),
      page.limit,
    )
    return { reports: rows.map(reportView), next_cursor }
  },

  create: loading(
    () => ({ stored: profilePart }),
    ({ week }, { gate }, { stored }) => {
      const { time_zone } = stored.profile
      const request = { week: weekOf(week, { at: gate.now, timeZone: time_zone }), time_zone }
      const { record, effects } = admitReport({ gate, origin: 'manual' }, request)
      return { reply: { report: reportView(record) }, effects, refId: record.id }
    },
  ),

  async get({ id }, { read }) {
    const [report] = await read(reportById(id))
    return { report: reportView(found(report, 'no such report')) }
  },

  cancel: cancelling('report', generationStores.report, (record) => ({
    report: reportView(record),
  })),
}
