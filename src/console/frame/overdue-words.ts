/** What resuming does with the posts that fell due while automation was paused, in words. */

interface Outcome {
  sent: number
  skipped: number
}

const AGAIN = 'Scheduled posts go out again.'

const fellDue = (count: number, [one, many]: [one: string, many: string]): string =>
  count === 1
    ? `1 post that fell due meanwhile ${one}.`
    : `${count} posts that fell due meanwhile ${many}.`

export const overdueWords = ({ sent, skipped }: Outcome): string => {
  if (sent + skipped === 0) return `${AGAIN} None fell due meanwhile.`
  return [
    ...(sent === 0 ? [AGAIN] : [fellDue(sent, ['goes out at once', 'go out at once'])]),
    ...(skipped === 0
      ? []
      : [
          fellDue(skipped, [
            'is too late: it stays approved, without a time',
            'are too late: they stay approved, without a time',
          ]),
        ]),
  ].join(' ')
}
