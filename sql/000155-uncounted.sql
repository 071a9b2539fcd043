-- Not every network counts how often a post was seen and clicked: null, since 0 would be a count.
alter table item_metric
  alter column impressions drop not null,
  alter column clicks drop not null;

-- Where nobody counts impressions, experiments compare reactions per post.
alter table experiment
  drop constraint experiment_metric_check,
  add constraint experiment_metric_check check (metric in
    ('engagement_rate', 'impressions', 'likes', 'replies', 'reposts', 'clicks', 'reactions'));
