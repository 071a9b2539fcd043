/**
 * `npm run bench:tasks`: what the rules of tasks find in the texts of test/data/tasks, and what
 * they miss.
 */
import { taskScore } from '#test/support/agent/task-score'

const percent = (part: number, whole: number): string => `${Math.round((100 * part) / whole)} %`

for (const language of ['en', 'de', undefined] as const) {
  const { texts, known, found, right, owners, dates, labelled, unlabelled, mislabelled } =
    taskScore(language)
  console.log(`${language ?? 'all'}: ${texts} texts`)
  console.log(
    `  action items: precision ${percent(right, found)} (${right} of ${found}), recall ${percent(right, known)} (${right} of ${known})`,
  )
  console.log(
    `  of those, the owner is right in ${percent(owners, right)}, the date in ${percent(dates, right)}`,
  )
  console.log(`  labels: ${labelled} right, ${mislabelled} wrong, ${unlabelled} none`)
}
