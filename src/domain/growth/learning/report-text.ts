import { addDays } from '#kernel/calendar'
import type { Report, ReportData, ReportItem, Totals } from './report.ts'

const whole = (value: number): string => value.toLocaleString('en-US')
const percent = (share: number): string => `${(100 * share).toFixed(1)}%`

/** A post's text on one line, with Markdown escaped. */
const plain = (text: string): string =>
  text.replace(/\s+/g, ' ').replace(/[\\`*_[\]<>#|~]/g, '\\$&')

const formatValue = (key: keyof Totals, value: number | null): string => {
  if (value === null) return '–'
  if (key === 'engagement_rate') return percent(value)
  return key === 'reactions_per_post' ? value.toFixed(1) : whole(value)
}

const formatChange = (change: number | null): string => {
  if (change === null) return '–'
  return `${change > 0 ? '+' : ''}${(100 * change).toFixed(0)}%`
}

const names: Record<keyof Totals, string> = {
  posts: 'Posts',
  impressions: 'Impressions',
  reactions: 'Reactions',
  clicks: 'Clicks',
  engagement_rate: 'Engagement',
  reactions_per_post: 'Reactions per post',
}

const table = (head: string[], rows: string[][]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')

const itemLine = (name: string, item: ReportItem): string => {
  const { impressions, reactions = 0, engagement_rate } = item
  const rate = engagement_rate === null ? '' : `, engagement ${percent(engagement_rate)}`
  const seen =
    impressions === null ? `${whole(reactions)} reactions` : `${whole(impressions)} impressions`
  return `- **${name}**: “${plain(item.text)}” (${seen}${rate})`
}

const posts = ({ best, worst, totals }: ReportData): string => {
  if (best) return [itemLine('Best', best), ...(worst ? [itemLine('Worst', worst)] : [])].join('\n')
  return totals.posts === 0
    ? 'Nothing was posted this week.'
    : "This week's posts have no metrics yet."
}

const summary = ({ totals, complete }: ReportData): string => {
  const so = complete ? '' : ' so far'
  const { impressions, reactions } = totals
  if (totals.posts === 0 && (impressions ?? reactions) === 0)
    return `A quiet week${so}: no posts, and no ${impressions === null ? 'reactions' : 'impressions'}.`
  const count = totals.posts === 1 ? '1 post' : `${totals.posts} posts`
  const seen = impressions === null ? '' : `${whole(impressions)} impressions and `
  return `${count} went out${so}. All posts, old and new, gained ${seen}${whole(reactions)} reactions.`
}

/** The report as Markdown, in English, with a heading for each part. */
export const reportMarkdown = (
  { week, time_zone }: Pick<Report, 'week' | 'time_zone'>,
  data: ReportData,
): string => {
  const { totals, before, change, days, waiting, quotas, reads, next } = data
  const keys = (Object.keys(names) as (keyof Totals)[]).filter((key) => key in totals)
  const numbers = keys.map((key) => [
    names[key],
    formatValue(key, totals[key] ?? null),
    formatValue(key, before[key] ?? null),
    formatChange(change[key] ?? null),
  ])
  const byDay = days.map(({ day, ...one }) => [
    day,
    ...(['posts', 'impressions', 'reactions', 'clicks'] as const).map((key) =>
      formatValue(key, one[key]),
    ),
  ])
  return [
    `# Week of ${week} to ${addDays(week, 6)}`,
    `${summary(data)} Times are in ${time_zone}.${data.note ? ` ${data.note}` : ''}`,
    table(['', 'This week', 'Week before', 'Change'], numbers),
    '## By day',
    table(['Day', 'Posts', 'Impressions', 'Reactions', 'Clicks'], byDay),
    '## Posts',
    posts(data),
    '## Status',
    [
      `- Awaiting approval: ${waiting.approvals}; scheduled: ${waiting.scheduled}; unconfirmed: ${waiting.unconfirmed}`,
      `- Monthly quota: ${quotas.map(({ key, used, limit }) => `${key} ${whole(used)} of ${whole(limit)}`).join(', ')}`,
      `- Network reads today (${reads.tier}): ${whole(reads.used)} of ${whole(reads.limit)}`,
    ].join('\n'),
    '## Next',
    next.length === 0
      ? 'Nothing to do.'
      : next.map(({ title, why }) => `- **${plain(title)}**: ${plain(why)}`).join('\n'),
  ].join('\n\n')
}
