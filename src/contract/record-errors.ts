/** The codes with which the `error` of a failed generation begins. Requests never return them. */
export const recordErrors = [
  {
    code: 'generation_failed',
    summary:
      'The model produced nothing valid. The hint after the colon says what to change. Try again at most once.',
  },
  {
    code: 'cancelled',
    summary:
      'The generation was cancelled, by its caller or by the kill switch. Its quota was returned.',
  },
  {
    code: 'enqueue_failed',
    summary: 'The server failed, not the model. You can safely try again.',
  },
] as const
