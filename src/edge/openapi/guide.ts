import { KEY_LIMIT } from '#contract/op'

/** The introduction of the OpenAPI document, in Markdown. */
export const guide = `Drafts posts from a growth profile, waits for human approval, and posts each one exactly once.

**Quickstart**

\`\`\`sh
api() { curl -sS -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' "$@"; }
api -X PUT  $URL/api/v1/growth/profile -d '{"goal": "Book demos", "writing_dna": {"proof": ["Cut late deliveries by 31%"]}}'
api -X POST $URL/api/v1/growth/batches -d '{"count": 3, "focus": "late deliveries"}'
api $URL/api/v1/growth/batches/$BATCH            # until its status is ready
api -X POST $URL/api/v1/growth/items/$ITEM/approve -d '{}'
api -X POST $URL/api/v1/growth/items/$ITEM/post-now -H "Idempotency-Key: $(uuidgen)"
\`\`\`

**Authentication.** Send an API key as a Bearer token. Each operation names the scope that its key needs: \`api:read\` for GET, \`api:write\` for everything else. A member's key can never do more than the member.

**People** sign in with \`POST /api/v1/app/session\`. Browsers get HttpOnly cookies; programs request tokens with \`"delivery": "body"\` and send the access token as a Bearer token. Everything under \`/api/v1/app\` is for people only, except \`GET /api/v1/app/events\`. A refresh token works once; a second use ends the session. A session is in one workspace, which any tab of a browser can change: name the one that you mean in \`Tendril-Workspace\`, and a session that is elsewhere returns 409 before anything is read or written. Owners can do everything, and every member can read; other operations require a role and return 403 \`forbidden\` without it.

**Bodies** are JSON objects of at most 1 MiB, or 16 KiB for operations that need no credential, sent as \`application/json\`. A larger body returns 413 before it is read; one that takes longer than 60 seconds to arrive returns 408. When too many bodies are arriving at once, a request waits up to 5 seconds, then returns 503. An unknown field is an error that names the closest known field.

**Errors** have one form, \`{"error": {"code", "message", "details"?, "request_id"}}\`. Act on \`code\`. A 409 also has \`reason\`, from a closed list, and where somebody else acted first \`by\` and \`at\`: who and when. 429 and 503 include \`Retry-After\`.

**Idempotency.** Send an \`Idempotency-Key\` (1 to ${KEY_LIMIT} characters) with every command. For 24 hours, the same key with the same request returns the stored response, marked \`Idempotency-Replayed: true\`; only successful responses are stored. While the first request is running, a second returns 409 \`idempotency_in_flight\`; the same key with a different request returns 422 \`idempotency_key_reused\`. When a workspace has 256 MiB of stored responses, new commands with a key return 429 \`rate_limited:idempotency\` until the oldest expire; pausing, disconnecting and posting now are exempt.

**Pagination.** Lists take \`limit\` and \`cursor\`. Pass \`next_cursor\` as \`cursor\` until it is null.

**Copies.** A single record has a weak \`ETag\`: send it as \`If-None-Match\`, and an unchanged record returns 304 without a body. JSON of more than 1 KiB is compressed for clients that accept gzip, unless it contains a secret.

**Generation** continues after the response. Poll the record about every 20 seconds until its \`status\` is \`ready\` or \`failed\`, typically after 1 to 3 minutes.

**Plans.** Operations that cost return 403 if billing is not in order (\`plan_invalid:<reason>\`), the plan lacks the feature (\`plan_feature_disabled:<feature>\`) or the monthly quota is used up (\`plan_quota_exceeded:<key>\`), and 429 \`rate_limited:<action>\` at the hourly cap. Months and days are UTC. Reads always work. If an operation has a cap or a quota, \`RateLimit-Policy\` and \`RateLimit\` show it on every response that got as far as checking it, including replays, which use nothing. Units that a generation does not deliver return to their month. If billing is not in order when a scheduled post falls due, the post is not sent: it returns to approved, unscheduled, with the reason in \`last_error\`, and a person must schedule it again. Reads from the network have a daily budget; a tenth of it is reserved for settling posts in doubt, which is never refused. A post read twice in a day counts twice.

**Rate limits.** A plan also limits how many requests per second a workspace can send to each process, and how many of those can be commands, which change something: on \`team\`, 1,000 requests with a burst of 10,000 and 300 commands with a burst of 5,000; a third of that on \`creator\`, a tenth on \`free\`. Requests over the limit return 429 \`rate_limited:requests\` or \`rate_limited:commands\`. Each MCP message counts as a request. Pausing all automation and disconnecting an account are exempt. Without a valid credential, an address can send 100 requests per second with a burst of 1,000, then gets 429 \`rate_limited:address\`.

**Webhooks.** Each event is a POST of \`{"id", "type", "created_at", "workspace_id", "data"}\` to the endpoint that an owner sets with \`PUT /api/v1/app/webhook\`. Signatures follow Standard Webhooks 1.0: \`webhook-signature\`, repeated in \`X-Webhook-Signature\`, is \`v1,\` plus the base64 of HMAC-SHA256 over \`{webhook-id}.{webhook-timestamp}.{body}\`; during a rotation, several signatures separated by spaces. The key is the part of the secret after \`whsec_\`, decoded from base64. Events are delivered at least once, in order within an item or batch, always with the same \`webhook-id\`. Respond with 2xx within 15 seconds, and drop duplicates. Any other response is retried after 5 seconds, 5 and 30 minutes, then 2, 5, 10 and 10 hours; 429 and 503 can ask for a longer wait with \`Retry-After\`; 410 disables the endpoint. Pausing automation does not pause events.`
