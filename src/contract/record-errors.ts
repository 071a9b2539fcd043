/** Codes that end a generation's record: its `error` begins with one. No request is answered with them. */
export const recordErrors = [
  {
    code: 'generation_failed',
    summary: 'The model produced nothing valid. The hint behind the colon says what to change; try again once at most.',
  },
  {
    code: 'cancelled',
    summary: 'The generation was cancelled, by its caller or by the kill switch. What it took of the quota was given back.',
  },
  { code: 'enqueue_failed', summary: 'The server failed, not the model. It is safe to try again.' },
] as const
