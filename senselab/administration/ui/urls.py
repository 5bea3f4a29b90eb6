"""/settings/, and the two links that work once."""

from django.urls import path

from senselab.administration.ui import audit, keys, own, people, security

urlpatterns = [
    path("settings/", own.own, name="settings"),
    path("settings/you/", own.own, name="own"),
    path("settings/you/sign-out-everywhere/", own.sign_out_everywhere, name="sign_out_everywhere"),
    path("settings/you/sign-ins/<int:sign_in_id>/end/", own.end_sign_in, name="end_sign_in"),
    path("settings/you/security/", security.security, name="security"),
    path("settings/you/security/app/", security.app, name="add_app"),
    path("settings/you/security/passkey/", security.passkey, name="add_passkey"),
    path("settings/you/security/codes/", security.recovery_codes, name="recovery_codes"),
    path("settings/you/security/identity/", security.identity, name="identity"),
    path("settings/you/security/identity/unlink/", security.unlink_identity, name="unlink_identity"),
    path("settings/you/security/<int:factor_id>/remove/", security.remove, name="remove_factor"),
    path("settings/keys/", keys.keys, name="keys"),
    path("settings/keys/<int:key_id>/rotate/", keys.rotate_key, name="rotate_key"),
    path("settings/keys/<int:key_id>/revoke/", keys.revoke_key, name="revoke_key"),
    path("settings/people/", people.people, name="people"),
    path("settings/people/invite/", people.invite, name="invite"),
    path(
        "settings/people/invitations/<int:invitation_id>/withdraw/",
        people.withdraw_invitation,
        name="withdraw_invitation",
    ),
    path("settings/people/<int:membership_id>/role/", people.change_role, name="change_role"),
    path("settings/people/<int:membership_id>/remove/", people.remove_person, name="remove_person"),
    path("settings/people/<int:membership_id>/password/", people.reset_link, name="reset_link"),
    path("settings/people/<int:membership_id>/factors/", people.reset_factors, name="reset_factors"),
    path("settings/people/<int:membership_id>/email/", people.know_email, name="know_email"),
    path("settings/people/second-factor/", people.require_factors, name="require_factors"),
    path("settings/audit/", audit.audit_trail, name="audit"),
    path("invitation/<str:token>/", people.invitation, name="invitation"),
    path("password/<uidb64>/<token>/", own.NewPassword.as_view(), name="new_password"),
]
